//! A shape together with its order in the device's memory: what must be the same for
//! a buffer to fit an input. A client keeps one copy of each, so that equal ones are
//! mostly one pointer.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::shape::{Layout, Shape};

/// A shape in a given order.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DeviceShape {
    pub(crate) shape: Shape,
    /// Row-major whenever the order of elements is: dimensions of size 1 may stand
    /// anywhere in a layout without changing it.
    layout: Layout,
    bytes: usize,
}

impl DeviceShape {
    pub(crate) fn new(shape: Shape, layout: &Layout) -> DeviceShape {
        let layout = if layout.orders_as_row_major(&shape) {
            Layout::row_major(shape.rank())
        } else {
            layout.clone()
        };
        DeviceShape {
            // Elements narrower than a byte lie packed on the device.
            bytes: packed_size(&shape),
            shape,
            layout,
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The size on the device in bytes, without padding.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts elements that lie in this order into row-major order.
    pub(crate) fn to_row_major<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        if self.layout.is_row_major() {
            values
        } else {
            self.layout.to_row_major(&self.shape, &values)
        }
    }
}

/// The size follows from the shape.
impl Hash for DeviceShape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shape.hash(state);
        self.layout.hash(state);
    }
}

fn packed_size(shape: &Shape) -> usize {
    match shape.element_type().bits() {
        narrow @ 1..8 => (shape.element_count() as u128 * narrow as u128).div_ceil(8) as usize,
        _ => shape.byte_size(),
    }
}

/// The layout is told where it is not the usual one.
impl fmt::Display for DeviceShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layout.is_row_major() {
            write!(f, "{}", self.shape)
        } else {
            write!(f, "{}{}", self.shape, self.layout)
        }
    }
}

/// The shapes in use by a client's buffers and programs.
#[derive(Default)]
pub(crate) struct ShapeTable {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    shapes: HashSet<Arc<DeviceShape>>,
    /// Unused shapes are dropped when the table has grown to this.
    sweep_at: usize,
}

impl ShapeTable {
    /// The table's copy of a shape in a given order.
    pub(crate) fn intern(&self, shape: DeviceShape) -> Arc<DeviceShape> {
        let mut known = self.known.lock();
        if let Some(kept) = known.shapes.get(&shape) {
            return Arc::clone(kept);
        }
        if known.shapes.len() >= known.sweep_at {
            known.shapes.retain(|shape| Arc::strong_count(shape) > 1);
            known.sweep_at = (known.shapes.len() * 2).max(64);
        }
        let shape = Arc::new(shape);
        known.shapes.insert(Arc::clone(&shape));
        shape
    }
}

/// Whether two are equal; a comparison of pointers for interned ones.
pub(crate) fn same(a: &Arc<DeviceShape>, b: &Arc<DeviceShape>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_major(size: usize) -> DeviceShape {
        DeviceShape::new(
            Shape::of::<f32>(&[size]).expect("small"),
            &Layout::row_major(1),
        )
    }

    #[test]
    fn equal_shapes_are_one_and_unused_ones_go() {
        let table = ShapeTable::default();
        let kept = table.intern(row_major(1));
        assert!(Arc::ptr_eq(&kept, &table.intern(row_major(1))));
        for size in 0..1000 {
            table.intern(row_major(size));
        }
        assert!(table.known.lock().shapes.len() <= 64, "unused shapes stay");
        assert!(Arc::ptr_eq(&kept, &table.intern(row_major(1))));
    }

    #[test]
    fn layouts_that_order_alike_are_equal() {
        let column = Layout::from_minor_to_major(&[0, 1], 2).expect("a permutation");
        let vector = Shape::of::<f32>(&[4, 1]).expect("small");
        let matrix = Shape::of::<f32>(&[4, 2]).expect("small");
        let as_row_major = DeviceShape::new(vector.clone(), &Layout::row_major(2));
        assert!(DeviceShape::new(vector, &column) == as_row_major);
        let as_row_major = DeviceShape::new(matrix.clone(), &Layout::row_major(2));
        assert!(DeviceShape::new(matrix, &column) != as_row_major);
    }
}
