//! What an array takes in a device's memory, and in which of its memories.

use crate::device_shape::DeviceShape;
use crate::hlo::HloLayout;
use crate::shape::{Layout, Shape};

/// Two arrays of the same footprint can lie in the same place: XLA pairs donors and outputs
/// by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Footprint {
    /// Without what a device may round up to.
    pub(crate) bytes: usize,
    /// 0 is the device's own.
    pub(crate) memory: i64,
}

impl Footprint {
    /// In the device's own memory, without padding.
    pub(crate) fn packed(form: &DeviceShape) -> Footprint {
        Footprint {
            bytes: form.bytes(),
            memory: 0,
        }
    }

    /// Of a shape with the layout that the compiled program states for it.
    pub(crate) fn of(shape: &Shape, layout: &Layout, stated: Option<&HloLayout>) -> Footprint {
        let Some(stated) = stated else {
            return Footprint {
                bytes: shape.byte_size(),
                memory: 0,
            };
        };
        Footprint {
            // More than 64 bits count is nothing that fits anywhere.
            bytes: padded(shape, layout, stated).unwrap_or(usize::MAX),
            memory: stated.memory_space,
        }
    }
}

/// The bytes with packed elements, and dimensions padded to the outermost tile; the tiles
/// inside of it only order its elements.
fn padded(shape: &Shape, layout: &Layout, stated: &HloLayout) -> Option<usize> {
    let bits = match usize::try_from(stated.element_size_in_bits) {
        Ok(bits) if bits > 0 => bits,
        _ => shape.element_type().host_size() * 8,
    };
    // The fastest varying first, as a tile's dimensions are met from its end.
    let mut dims: Vec<usize> = layout
        .minor_to_major()
        .iter()
        .map(|dim| shape.dims()[*dim])
        .collect();
    let tile = stated.tiles.first().map_or(&[][..], |tile| tile.as_slice());
    for (position, size) in tile.iter().rev().enumerate() {
        // One that isn't positive joins dimensions: no device pads by it.
        let Ok(size @ 1..) = usize::try_from(*size) else {
            continue;
        };
        match dims.get_mut(position) {
            Some(dim) => *dim = dim.checked_next_multiple_of(size)?,
            None => dims.push(size),
        }
    }
    let count = dims
        .iter()
        .try_fold(1usize, |count, dim| count.checked_mul(*dim))?;
    Some(count.checked_mul(bits)?.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementType;
    use crate::hlo::Few;

    fn bytes(element_type: ElementType, dims: &[usize], stated: HloLayout) -> usize {
        let shape = Shape::new(element_type, dims).expect("small");
        let stated = HloLayout {
            minor_to_major: (0..dims.len() as i64).rev().collect(),
            ..stated
        };
        Footprint::of(&shape, &Layout::row_major(dims.len()), Some(&stated)).bytes
    }

    fn tiles(sizes: &[&[i64]]) -> HloLayout {
        let tile = |dimensions: &&[i64]| Few::from_slice(dimensions);
        HloLayout {
            tiles: sizes.iter().map(tile).collect(),
            ..HloLayout::default()
        }
    }

    #[test]
    fn tiles_pad_and_packed_elements_are_counted_in_bits() {
        use ElementType::{Bf16, F32, S4};
        assert_eq!(bytes(F32, &[3, 5], HloLayout::default()), 60);
        // f32[3,5]{1,0:T(8,128)} is 8 x 128 elements.
        assert_eq!(bytes(F32, &[3, 5], tiles(&[&[8, 128]])), 4096);
        assert_eq!(
            bytes(F32, &[2, 9, 129], tiles(&[&[8, 128]])),
            2 * 16 * 256 * 4
        );
        // bf16[3,5]{1,0:T(8,128)(2,1)}
        assert_eq!(bytes(Bf16, &[3, 5], tiles(&[&[8, 128], &[2, 1]])), 2048);
        // A tile of more dimensions than the shape has.
        assert_eq!(bytes(F32, &[5], tiles(&[&[8, 128]])), 4096);
        assert_eq!(bytes(F32, &[], tiles(&[&[128]])), 512);
        let packed = HloLayout {
            element_size_in_bits: 4,
            ..HloLayout::default()
        };
        assert_eq!(bytes(S4, &[3], packed), 2);
        assert_eq!(bytes(S4, &[3], HloLayout::default()), 3);
    }
}
