//! Whether replicas are still the same: the check for what drifts.

use smallvec::SmallVec;

use crate::element_value::ElementValue;
use crate::error::{Code, Error, Result};
use crate::host_array::HostArray;
use crate::per_device::{on, PerDevice};
use crate::shape::Shape;
use crate::spread::leaves_of;
use crate::tree::Tree;

impl<T: Tree> PerDevice<T> {
    /// Refuses values that are not the same on all devices, bit for bit. Reads all of them.
    ///
    /// # Errors
    /// They differ: names the first leaf that does, the device, the index and both values; a
    /// leaf has another shape; the run that was to fill one failed.
    pub fn assert_replicas_equal(&self) -> Result<()> {
        self.compare(|_, _| false)
    }

    /// As [`PerDevice::assert_replicas_equal`], but values may differ by
    /// `absolute + relative * |value on device 0|`. NaNs are alike.
    ///
    /// # Errors
    /// As [`PerDevice::assert_replicas_equal`].
    pub fn assert_replicas_close(&self, relative: f64, absolute: f64) -> Result<()> {
        self.compare(|first, other| other.is_close(first, relative, absolute))
    }

    /// Compares each device's leaves with those of the first. Where bytes differ `alike` is
    /// asked.
    fn compare(&self, alike: impl Fn(ElementValue, ElementValue) -> bool) -> Result<()> {
        let structure = self.common_structure()?;
        let leaves: Vec<_> = self.parts.iter().map(leaves_of).collect();
        for (index, first) in leaves[0].iter().enumerate() {
            let named = |error: Error| error.context(structure.describe_leaf(index));
            let first = HostArray::read(first).map_err(on(0)).map_err(named)?;
            for (position, leaves) in leaves.iter().enumerate().skip(1) {
                let Some(other) = leaves.get(index) else {
                    let missing = Error::invalid(format!("device {position} doesn't have it"));
                    return Err(named(missing));
                };
                let other = HostArray::read(other)
                    .map_err(on(position))
                    .map_err(named)?;
                same(&first, &other, position, &alike).map_err(named)?;
            }
        }
        Ok(())
    }
}

/// Refuses the first element that differs.
fn same(
    first: &HostArray<'_>,
    other: &HostArray<'_>,
    position: usize,
    alike: impl Fn(ElementValue, ElementValue) -> bool,
) -> Result<()> {
    if first.shape() != other.shape() {
        return Err(drifted(format!(
            "it is {} on device 0, but {} on device {position}",
            first.shape(),
            other.shape()
        )));
    }
    if first.as_bytes() == other.as_bytes() {
        return Ok(());
    }
    let element_type = first.element_type();
    let size = element_type.host_size();
    let pairs = first.as_bytes().chunks_exact(size);
    let pairs = pairs.zip(other.as_bytes().chunks_exact(size)).enumerate();
    for (place, (ours, theirs)) in pairs.filter(|(_, (ours, theirs))| ours != theirs) {
        let values = [ours, theirs].map(|bytes| ElementValue::read(element_type, bytes));
        if alike(values[0], values[1]) {
            continue;
        }
        let [mut one, mut another] = values.map(|value| value.to_string());
        if one == another {
            // NaNs of other bits.
            one += &format!(" ({})", bits(ours));
            another += &format!(" ({})", bits(theirs));
        }
        return Err(drifted(format!(
            "it is {one} on device 0, but {another} on device {position}, at {:?} of {}",
            index_of(place, first.shape()),
            first.shape()
        )));
    }
    Ok(())
}

/// The bytes of an element as one number.
fn bits(bytes: &[u8]) -> String {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| -> String {
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    let digits = match cfg!(target_endian = "big") {
        true => digits(&mut bytes.iter()),
        false => digits(&mut bytes.iter().rev()),
    };
    format!("0x{digits}")
}

fn drifted(message: String) -> Error {
    Error::new(Code::FailedPrecondition, message)
}

/// The index along each axis of the `place`-th element.
fn index_of(mut place: usize, shape: &Shape) -> SmallVec<[usize; 4]> {
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_slice(shape.dims());
    for axis in index.iter_mut().rev() {
        let size = *axis;
        *axis = place % size;
        place /= size;
    }
    index
}
