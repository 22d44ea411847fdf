//! Shapes and layouts.

use std::fmt;

use smallvec::SmallVec;

use crate::element::{Element, ElementType};
use crate::error::{Error, Result};

/// An element type and dimensions, such as `f32[2,3]`. A scalar has no
/// dimensions.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    element_type: ElementType,
    dims: SmallVec<[usize; 4]>,
    count: usize,
}

impl Shape {
    /// A shape with these dimensions, the slowest varying first.
    ///
    /// # Errors
    /// The element count, or the size in bytes, is more than an `i64` counts.
    pub fn new(element_type: ElementType, dims: &[usize]) -> Result<Shape> {
        let too_large = || {
            Error::invalid(format!(
                "{element_type}{dims:?} has more elements or bytes than 64 bits count"
            ))
        };
        let mut count = 1usize;
        for dim in dims {
            i64::try_from(*dim).map_err(|_| too_large())?;
            count = count.checked_mul(*dim).ok_or_else(too_large)?;
        }
        let bytes = count
            .checked_mul(element_type.host_size())
            .ok_or_else(too_large)?;
        i64::try_from(bytes).map_err(|_| too_large())?;
        Ok(Shape {
            element_type,
            dims: SmallVec::from_slice(dims),
            count,
        })
    }

    /// The shape of values of a Rust type with these dimensions.
    ///
    /// # Errors
    /// As [`Shape::new`].
    pub fn of<T: Element>(dims: &[usize]) -> Result<Shape> {
        Shape::new(T::TYPE, dims)
    }

    /// A shape from the dimensions that a plugin or a program states.
    pub(crate) fn from_raw_dims(element_type: ElementType, dims: &[i64]) -> Result<Shape> {
        let dims: SmallVec<[usize; 4]> = dims
            .iter()
            .map(|dim| {
                usize::try_from(*dim).map_err(|_| {
                    Error::invalid(format!(
                        "{element_type}{dims:?} has a dimension without a fixed size, which is not \
                         supported; give the program static shapes"
                    ))
                })
            })
            .collect::<Result<_>>()?;
        Shape::new(element_type, &dims)
    }

    /// The element type.
    #[inline]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The dimensions, the slowest varying first.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The dimensions as PJRT takes them; each was checked to fit.
    pub(crate) fn raw_dims(&self) -> SmallVec<[i64; 4]> {
        self.dims.iter().map(|dim| *dim as i64).collect()
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How many elements there are; 1 for a scalar.
    pub fn element_count(&self) -> usize {
        self.count
    }

    /// The size in host memory in bytes, dense.
    pub fn byte_size(&self) -> usize {
        self.count * self.element_type.host_size()
    }

    /// Refuses unless a list of `len` elements of type `element_type` fills it.
    #[inline]
    pub(crate) fn check_elements(&self, element_type: ElementType, len: usize) -> Result<()> {
        if element_type == self.element_type && len == self.count {
            return Ok(());
        }
        Err(self.other_elements(element_type, len))
    }

    #[cold]
    fn other_elements(&self, element_type: ElementType, len: usize) -> Error {
        if element_type != self.element_type {
            return Error::invalid(format!(
                "the buffer is {self}, but its elements were asked for as {element_type}"
            ));
        }
        Error::invalid(format!(
            "{self} has {} elements, but {len} were given",
            self.count
        ))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element_type)?;
        for (index, dim) in self.dims.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The order of dimensions in a device's memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    minor_to_major: SmallVec<[usize; 4]>,
}

impl Layout {
    /// The layout of C arrays: the last dimension varies fastest.
    pub fn row_major(rank: usize) -> Layout {
        Layout {
            minor_to_major: (0..rank).rev().collect(),
        }
    }

    /// A layout from a program or plugin; `None` unless it is a permutation.
    pub(crate) fn from_minor_to_major(order: &[i64], rank: usize) -> Option<Layout> {
        let minor_to_major: SmallVec<[usize; 4]> = order
            .iter()
            .map(|dim| usize::try_from(*dim).ok())
            .collect::<Option<_>>()?;
        let mut sorted = minor_to_major.clone();
        sorted.sort_unstable();
        let complete = sorted.iter().copied().eq(0..rank);
        complete.then_some(Layout { minor_to_major })
    }

    /// A layout from an order of dimensions, the fastest varying first.
    ///
    /// # Errors
    /// A dimension is missing, or there twice.
    pub fn new(minor_to_major: &[usize]) -> Result<Layout> {
        let order: SmallVec<[i64; 4]> = minor_to_major
            .iter()
            .map(|dim| i64::try_from(*dim).unwrap_or(i64::MAX))
            .collect();
        Layout::from_minor_to_major(&order, order.len()).ok_or_else(|| {
            Error::invalid(format!(
                "{minor_to_major:?} is no layout: each of the dimensions 0 to {} must stand in it \
                 once",
                minor_to_major.len().saturating_sub(1)
            ))
        })
    }

    /// How many dimensions it orders.
    pub fn rank(&self) -> usize {
        self.minor_to_major.len()
    }

    /// The order as PJRT takes it.
    pub(crate) fn raw_minor_to_major(&self) -> SmallVec<[i64; 4]> {
        self.minor_to_major.iter().map(|dim| *dim as i64).collect()
    }

    /// The dimensions, the fastest varying first.
    pub fn minor_to_major(&self) -> &[usize] {
        &self.minor_to_major
    }

    /// Whether the last dimension varies fastest, and so on to the first.
    pub fn is_row_major(&self) -> bool {
        self.minor_to_major
            .iter()
            .rev()
            .copied()
            .eq(0..self.minor_to_major.len())
    }

    /// Whether a row-major copy has its elements in the same order: dimensions of
    /// size 1 may stand anywhere.
    pub(crate) fn orders_as_row_major(&self, shape: &Shape) -> bool {
        let dims = shape.dims();
        let mut larger = self
            .minor_to_major
            .iter()
            .rev()
            .filter(|dim| dims[**dim] != 1);
        let mut last = None;
        larger.all(|dim| {
            let ascending = last < Some(*dim);
            last = Some(*dim);
            ascending
        })
    }

    /// Puts `values`, which lie in this order, into row-major order.
    pub(crate) fn to_row_major<T: Copy>(&self, shape: &Shape, values: &[T]) -> Vec<T> {
        let mut ordered = Vec::with_capacity(values.len());
        self.walk(shape, |offset| ordered.push(values[offset]));
        ordered
    }

    /// Puts row-major bytes into this order, element by element.
    pub(crate) fn bytes_from_row_major(&self, shape: &Shape, bytes: &[u8]) -> Vec<u8> {
        let size = shape.element_type().host_size();
        let mut ordered = vec![0; bytes.len()];
        let mut elements = bytes.chunks_exact(size);
        self.walk(shape, |offset| {
            if let Some(element) = elements.next() {
                ordered[offset * size..][..size].copy_from_slice(element);
            }
        });
        ordered
    }

    /// Visits the elements in row-major order, giving for each where it lies in this one.
    fn walk(&self, shape: &Shape, mut visit: impl FnMut(usize)) {
        let dims = shape.dims();
        // How far apart neighbours along each dimension lie.
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
        let mut stride = 1usize;
        for dim in &self.minor_to_major {
            strides[*dim] = stride;
            stride *= dims[*dim];
        }
        let mut position: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
        let mut offset = 0usize;
        for _ in 0..shape.element_count() {
            visit(offset);
            // Count up the last dimension, carrying into those before it.
            for dim in (0..dims.len()).rev() {
                position[dim] += 1;
                offset += strides[dim];
                if position[dim] < dims[dim] {
                    break;
                }
                offset -= strides[dim] * dims[dim];
                position[dim] = 0;
            }
        }
    }
}

impl fmt::Display for Layout {
    /// As XLA writes it: `{1,0}` is row-major in two dimensions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, dim) in self.minor_to_major.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_text() {
        let shape = Shape::of::<f32>(&[2, 3]).expect("small");
        assert_eq!(shape.to_string(), "f32[2,3]");
        assert_eq!(
            (shape.element_count(), shape.byte_size(), shape.rank()),
            (6, 24, 2)
        );
        assert_eq!(Shape::of::<u8>(&[]).expect("scalar").element_count(), 1);
    }

    #[test]
    fn overflow_is_refused() {
        assert!(Shape::new(ElementType::F32, &[usize::MAX, 2]).is_err());
        assert!(Shape::new(ElementType::F64, &[1 << 62]).is_err());
    }

    #[test]
    fn column_major_is_put_right() {
        // The matrix [[1, 2, 3], [4, 5, 6]] with its columns one after another.
        let shape = Shape::of::<i32>(&[2, 3]).expect("small");
        let layout = Layout::from_minor_to_major(&[0, 1], 2).expect("a permutation");
        assert!(!layout.orders_as_row_major(&shape));
        assert_eq!(
            layout.to_row_major(&shape, &[1, 4, 2, 5, 3, 6]),
            [1, 2, 3, 4, 5, 6]
        );
        // A cube counted by hand: element (i, j, k) is 100 i + 10 j + k, and the
        // middle dimension varies fastest, then the first.
        let shape = Shape::of::<i32>(&[2, 2, 3]).expect("small");
        let layout = Layout::from_minor_to_major(&[1, 0, 2], 3).expect("a permutation");
        let device = [0, 10, 100, 110, 1, 11, 101, 111, 2, 12, 102, 112];
        let host = [0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112];
        assert_eq!(layout.to_row_major(&shape, &device), host);
        let bytes = |values: [i32; 12]| values.map(i32::to_ne_bytes).concat();
        assert_eq!(
            layout.bytes_from_row_major(&shape, &bytes(host)),
            bytes(device)
        );
    }

    #[test]
    fn ones_do_not_matter() {
        let shape = Shape::of::<i32>(&[4, 1]).expect("small");
        let layout = Layout::from_minor_to_major(&[0, 1], 2).expect("a permutation");
        assert!(layout.orders_as_row_major(&shape));
        assert!(Layout::from_minor_to_major(&[0, 0], 2).is_none());
        assert!(Layout::from_minor_to_major(&[0], 2).is_none());
    }
}
