//! One copy of each shape a client, so that equal shapes are mostly one pointer.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::shape::Shape;

/// The shapes in use by a client's buffers and programs.
#[derive(Default)]
pub(crate) struct ShapeTable {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    shapes: HashSet<Arc<Shape>>,
    /// Unused shapes are dropped when the table has grown to this.
    sweep_at: usize,
}

impl ShapeTable {
    /// The table's copy of `shape`.
    pub(crate) fn intern(&self, shape: Shape) -> Arc<Shape> {
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

/// Whether two shapes are equal; a comparison of pointers for interned ones.
pub(crate) fn same(a: &Arc<Shape>, b: &Arc<Shape>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shapes_are_one_and_unused_ones_go() {
        let table = ShapeTable::default();
        let shape = |n| Shape::of::<f32>(&[n]).expect("small");
        let kept = table.intern(shape(1));
        assert!(Arc::ptr_eq(&kept, &table.intern(shape(1))));
        for n in 0..1000 {
            table.intern(shape(n));
        }
        assert!(table.known.lock().shapes.len() <= 64, "unused shapes stay");
        assert!(Arc::ptr_eq(&kept, &table.intern(shape(1))));
    }
}
