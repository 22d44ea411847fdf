//! A shape together with its order in the device's memory: what must be the same for
//! a buffer to fit an input. A client keeps one copy of each, so that equal ones are
//! mostly one pointer.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::element::ElementType;
use crate::error::Result;
use crate::pjrt::buffer::Place;
use crate::pjrt::seen::Seen;
use crate::shape::{Layout, Shape};

/// A shape in a given order.
pub(crate) struct DeviceShape {
    pub(crate) shape: Shape,
    /// Row-major whenever the order of elements is: dimensions of size 1 may stand
    /// anywhere in a layout without changing it.
    layout: Layout,
    bytes: usize,
    /// Of a client's own copy.
    seen: Seen,
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
            seen: Seen::default(),
        }
    }

    /// What was seen of its buffers on the client whose shape it is.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
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
impl PartialEq for DeviceShape {
    fn eq(&self, other: &DeviceShape) -> bool {
        self.shape == other.shape && self.layout == other.layout
    }
}

impl Eq for DeviceShape {}

/// As equality.
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
    /// What first came to each place, for good: found without a lock. Made when it is needed.
    first: OnceLock<Box<[OnceLock<Usual>]>>,
    /// What found its place there taken: the latest.
    usual: Mutex<Vec<Option<Usual>>>,
}

/// How the plugin laid out a shape at a place when it was free to choose.
struct Usual {
    at: Place,
    form: Arc<DeviceShape>,
}

impl Usual {
    #[inline]
    fn form_of(
        &self,
        element_type: ElementType,
        dims: &[usize],
        at: Place,
    ) -> Option<&Arc<DeviceShape>> {
        let shape = &self.form.shape;
        let known = shape.dims();
        // Few numbers: a call that compares memory takes longer.
        let is_same = self.at == at
            && shape.element_type() == element_type
            && known.len() == dims.len()
            && known.iter().zip(dims).all(|(known, dim)| known == dim);
        is_same.then_some(&self.form)
    }
}

/// How many of those are remembered: a power of two.
const USUAL: usize = 128;

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

impl ShapeTable {
    /// As [`intern`](Self::intern), of a shape in the layout that the plugin chooses for it, which
    /// is always the same at a place (fact 57): `ask` is called where it isn't remembered. Uploads
    /// of a few KB are quick enough for the question, and for hashing, to show.
    pub(crate) fn usual(
        &self,
        shape: &Shape,
        at: Place,
        ask: impl FnOnce() -> Result<Layout>,
    ) -> Result<Arc<DeviceShape>> {
        if let Some(form) = self.remembered(shape.element_type(), shape.dims(), at) {
            return Ok(form);
        }
        let slot = slot_of(shape.element_type(), shape.dims(), at);
        // Without the lock: the plugin is called.
        let form = self.intern(DeviceShape::new(shape.clone(), &ask()?));
        let empty = || (0..USUAL).map(|_| OnceLock::new()).collect();
        let first = &self.first.get_or_init(empty)[slot];
        let usual = Usual {
            at,
            form: Arc::clone(&form),
        };
        let Err(usual) = first.set(usual) else {
            return Ok(form);
        };
        let mut remembered = self.usual.lock();
        if remembered.is_empty() {
            remembered.resize_with(USUAL, || None);
        }
        // The latest of those that share a place in the table, and the one before it.
        remembered[slot ^ 1] = remembered[slot].replace(usual);
        Ok(form)
    }

    /// What [`usual`](Self::usual) gave of a shape at a place, where that is remembered.
    #[inline]
    pub(crate) fn remembered(
        &self,
        element_type: ElementType,
        dims: &[usize],
        at: Place,
    ) -> Option<Arc<DeviceShape>> {
        let slot = slot_of(element_type, dims, at);
        let first = self.first.get().and_then(|first| first[slot].get());
        match first.and_then(|first| first.form_of(element_type, dims, at)) {
            Some(form) => Some(Arc::clone(form)),
            None => self.remembered_later(slot, element_type, dims, at),
        }
    }

    /// Of what isn't the first at its place.
    #[cold]
    fn remembered_later(
        &self,
        slot: usize,
        element_type: ElementType,
        dims: &[usize],
        at: Place,
    ) -> Option<Arc<DeviceShape>> {
        let remembered = self.usual.lock();
        let mut both = [slot, slot ^ 1].into_iter();
        both.find_map(|slot| {
            let usual = remembered.get(slot)?.as_ref()?;
            usual.form_of(element_type, dims, at).map(Arc::clone)
        })
    }
}

/// Where a shape at a place is remembered. Spreads those of a model well enough; whether it is the
/// same is compared.
#[inline]
fn slot_of(element_type: ElementType, dims: &[usize], at: Place) -> usize {
    let place = match at {
        Place::Device(index) => 2 * index,
        Place::Memory(index) => 2 * index + 1,
    };
    let first = (place as u64) << 8 | element_type as u64;
    let mixed = dims.iter().fold(first, |mixed, dim| {
        (mixed ^ *dim as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    // The upper bits depend on all of the dimensions.
    (mixed >> (u64::BITS - USUAL.trailing_zeros())) as usize
}

/// Whether two are equal; a comparison of pointers for interned ones.
#[inline]
pub(crate) fn same(a: &Arc<DeviceShape>, b: &Arc<DeviceShape>) -> bool {
    Arc::ptr_eq(a, b) || are_equal(a, b)
}

/// Apart, so that the usual case is a few instructions.
#[cold]
#[inline(never)]
fn are_equal(a: &DeviceShape, b: &DeviceShape) -> bool {
    a == b
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
    fn the_usual_layout_is_asked_once_a_shape_and_place() {
        let table = ShapeTable::default();
        let shape = |rows, columns| Shape::of::<f32>(&[rows, columns]).expect("small");
        let columns = Layout::from_minor_to_major(&[0, 1], 2).expect("a permutation");
        let rows = Layout::row_major(2);
        let asked = std::cell::Cell::new(0);
        let usual = |shape: &Shape, at, layout: &Layout| {
            let ask = || {
                asked.set(asked.get() + 1);
                Ok(layout.clone())
            };
            table.usual(shape, at, ask).expect("an answer")
        };
        let first = usual(&shape(2, 3), Place::Device(0), &columns);
        for _ in 0..3 {
            // Not asked, so the other layout doesn't count.
            let again = usual(&shape(2, 3), Place::Device(0), &rows);
            assert!(Arc::ptr_eq(&first, &again) && !again.layout().is_row_major());
        }
        assert_eq!(asked.get(), 1);
        let elsewhere = usual(&shape(2, 3), Place::Memory(0), &rows);
        assert!(elsewhere.layout().is_row_major());
        let other = usual(&shape(3, 2), Place::Memory(0), &rows);
        assert_eq!((other.shape.dims(), asked.get()), (&[3, 2][..], 3));
        // However many share a place in the table, each has its own shape.
        for size in 0..3000 {
            let form = usual(&shape(size, 2), Place::Device(1), &rows);
            assert_eq!(form.shape, shape(size, 2));
        }
        let failed = table.usual(&shape(9, 9), Place::Device(7), || {
            Err(crate::error::Error::invalid("no layout"))
        });
        assert!(failed.is_err());
        assert_eq!(
            usual(&shape(9, 9), Place::Device(7), &rows).shape,
            shape(9, 9)
        );
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
