//! Arrays in host memory, of any element type.

mod runs;

use std::fmt;

use runs::Runs;

use crate::buffer::Buffer;
use crate::element::{Element, ElementType};
use crate::error::{Code, Error, Result};
use crate::memory::Place;
use crate::pjrt::aligned::HostVec;
use crate::pjrt::host::{self, Plain};
use crate::pjrt::host_values::HostValues;
use crate::shape::Shape;
use crate::sharding::{uneven, Block};

/// An array in host memory: a shape and row-major bytes, borrowed or owned. What is spread
/// over devices, and what comes back from them.
///
/// Bytes are in the machine's order; elements narrower than a byte take one each, as in
/// [`Buffer::to_bytes`].
///
/// ```
/// use xla::HostArray;
///
/// # fn main() -> xla::Result<()> {
/// let values = [1f32, 2., 3., 4., 5., 6.];
/// let matrix = HostArray::borrowed(&values, &[3, 2])?; // no copy
/// assert_eq!(matrix.shape().to_string(), "f32[3,2]");
/// assert_eq!(matrix.to_vec::<f32>()?, values);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HostArray<'a> {
    shape: Shape,
    bytes: Bytes<'a>,
}

#[derive(Clone)]
enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Owned(HostVec<u8>),
}

impl<'a> HostArray<'a> {
    /// An array of borrowed, row-major values.
    ///
    /// # Errors
    /// The number of values is not what `dims` need.
    pub fn borrowed<T: Element>(values: &'a [T], dims: &[usize]) -> Result<HostArray<'a>> {
        let shape = Shape::of::<T>(dims)?;
        shape.check_elements(T::TYPE, values.len())?;
        Ok(HostArray {
            shape,
            bytes: Bytes::Borrowed(T::as_bytes(values)),
        })
    }

    /// An array of borrowed bytes, in the form that [`Buffer::from_bytes`] takes.
    ///
    /// # Errors
    /// The number of bytes is not [`Shape::byte_size`].
    pub fn borrowed_bytes(bytes: &'a [u8], shape: Shape) -> Result<HostArray<'a>> {
        if bytes.len() != shape.byte_size() {
            return Err(Error::invalid(format!(
                "{shape} takes {} bytes, but {} were given",
                shape.byte_size(),
                bytes.len()
            )));
        }
        Ok(HostArray {
            shape,
            bytes: Bytes::Borrowed(bytes),
        })
    }

    /// The array with memory of its own.
    pub fn into_owned(self) -> HostArray<'static> {
        let bytes = match self.bytes {
            Bytes::Borrowed(bytes) => HostVec::from_slice(bytes),
            Bytes::Owned(bytes) => bytes,
        };
        HostArray {
            shape: self.shape,
            bytes: Bytes::Owned(bytes),
        }
    }

    /// The same array, borrowed.
    pub fn as_borrowed(&self) -> HostArray<'_> {
        HostArray {
            shape: self.shape.clone(),
            bytes: Bytes::Borrowed(self.as_bytes()),
        }
    }

    /// The element type and dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.shape.element_type()
    }

    /// The dimensions, the slowest varying first.
    pub fn dims(&self) -> &[usize] {
        self.shape.dims()
    }

    /// The size of an axis, which it must have.
    pub(crate) fn size_along(&self, axis: usize) -> Result<usize> {
        let size = self.dims().get(axis).copied();
        size.ok_or_else(|| Error::invalid(format!("{} has no axis {axis}", self.shape)))
    }

    /// One of `parts` equal parts along an axis; it must have that also where nothing is cut.
    pub(crate) fn part_along(
        &self,
        axis: usize,
        parts: usize,
        part: usize,
    ) -> Result<HostArray<'_>> {
        let size = self.size_along(axis)?;
        if parts == 0 || size % parts != 0 {
            return Err(uneven(&self.shape, axis, parts));
        }
        let mut block = Block::whole(&self.shape);
        block.dims[axis] = size / parts;
        block.start[axis] = part * block.dims[axis];
        self.block(&block)
    }

    /// The elements as bytes, row-major.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Borrowed(bytes) => bytes,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// The elements, where they are.
    ///
    /// # Errors
    /// `T` is not the element type; the array borrows bytes that are not aligned as `T` is.
    pub fn as_slice<T: Element + Plain>(&self) -> Result<&[T]> {
        self.shape
            .check_elements(T::TYPE, self.shape.element_count())?;
        host::numbers(self.as_bytes()).ok_or_else(|| {
            Error::invalid(format!(
                "the bytes of this {} are not aligned as its elements are; copy them with `to_vec`",
                self.shape
            ))
        })
    }

    /// A copy of the elements, row-major.
    ///
    /// # Errors
    /// `T` is not the element type; a byte of a `pred` is neither 0 nor 1.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let count = self.shape.element_count();
        self.shape.check_elements(T::TYPE, count)?;
        let mut stored = vec![T::Stored::default(); count];
        host::bytes_mut(&mut stored).copy_from_slice(self.as_bytes());
        T::from_stored(stored)
    }

    /// The only element, of an array that has one.
    ///
    /// # Errors
    /// As [`HostArray::to_vec`], and when there is not exactly one element.
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        if self.shape.element_count() != 1 {
            return Err(Error::invalid(format!(
                "a single element was asked for, but {} has {}",
                self.shape,
                self.shape.element_count()
            )));
        }
        Ok(self.to_vec::<T>()?[0])
    }

    /// Copies the array to a device or memory.
    ///
    /// # Errors
    /// As [`Buffer::from_bytes`].
    pub fn to_device(&self, place: impl Into<Place>) -> Result<Buffer> {
        Buffer::from_bytes(place, self.as_bytes(), &self.shape)
    }

    /// A box of the array; borrowed where its elements lie one after another, as those of
    /// neighbouring rows do.
    ///
    /// # Errors
    /// The box reaches out of the array.
    pub fn block(&self, block: &Block) -> Result<HostArray<'_>> {
        let dims = self.dims();
        let fits = block.start.len() == dims.len()
            && block.dims.len() == dims.len()
            && (0..dims.len()).all(|axis| {
                let end = block.start[axis].checked_add(block.dims[axis]);
                end.is_some_and(|end| end <= dims[axis])
            });
        if !fits {
            return Err(Error::invalid(format!(
                "{:?} from {:?} on reaches out of {}",
                &block.dims[..],
                &block.start[..],
                self.shape
            )));
        }
        let shape = Shape::new(self.element_type(), &block.dims)?;
        let runs = Runs::new(&self.shape, block);
        let bytes = match runs.only() {
            Some(range) => Bytes::Borrowed(&self.as_bytes()[range]),
            None => {
                let mut bytes = HostVec::zeroed(shape.byte_size());
                let mut at = 0;
                runs.visit(|range| {
                    bytes[at..][..range.len()].copy_from_slice(&self.as_bytes()[range.clone()]);
                    at += range.len();
                });
                Bytes::Owned(bytes)
            }
        };
        Ok(HostArray { shape, bytes })
    }
}

impl HostArray<'static> {
    /// An array with a copy of row-major values.
    ///
    /// # Errors
    /// The number of values is not what `dims` need.
    pub fn new<T: Element>(values: &[T], dims: &[usize]) -> Result<HostArray<'static>> {
        Ok(HostArray::borrowed(values, dims)?.into_owned())
    }

    /// An array of a copy of bytes, in the form that [`Buffer::from_bytes`] takes: what was
    /// read from a file.
    ///
    /// # Errors
    /// The number of bytes is not [`Shape::byte_size`].
    pub fn from_bytes(bytes: &[u8], shape: Shape) -> Result<HostArray<'static>> {
        Ok(HostArray::borrowed_bytes(bytes, shape)?.into_owned())
    }

    /// An array of one value without dimensions.
    ///
    /// # Errors
    /// None that is known: a scalar's size is counted as any other's.
    pub fn scalar<T: Element>(value: T) -> Result<HostArray<'static>> {
        HostArray::new(&[value], &[])
    }

    /// An array whose bytes are zero: zeros, `false` for `pred`.
    ///
    /// # Panics
    /// There is no memory for it: the process ends, as for `Vec`.
    pub fn zeros(shape: Shape) -> HostArray<'static> {
        HostArray {
            bytes: Bytes::Owned(HostVec::zeroed(shape.byte_size())),
            shape,
        }
    }

    /// The bytes with what owns them.
    pub(crate) fn into_bytes(self) -> HostValues<u8> {
        match self.bytes {
            Bytes::Borrowed(bytes) => bytes.into(),
            Bytes::Owned(bytes) => bytes.into(),
        }
    }

    /// As [`HostArray::zeros`], where there is memory for it.
    pub(crate) fn try_zeros(shape: Shape) -> Result<HostArray<'static>> {
        match HostVec::try_zeroed(shape.byte_size()) {
            Some(bytes) => Ok(HostArray {
                bytes: Bytes::Owned(bytes),
                shape,
            }),
            None => Err(Error::new(
                Code::ResourceExhausted,
                format!(
                    "there is no host memory for the {} bytes of {shape}",
                    shape.byte_size()
                ),
            )),
        }
    }

    /// Copies a buffer to the host and waits for it.
    ///
    /// # Errors
    /// The run that was to fill it failed; there is no memory for it; it is a token.
    pub fn read(buffer: &Buffer) -> Result<HostArray<'static>> {
        // What never came needs no memory, of which it may claim any amount.
        buffer.wait()?;
        let mut array = HostArray::try_zeros(buffer.shape().clone())?;
        if let Bytes::Owned(bytes) = &mut array.bytes {
            buffer.read_bytes_into(bytes)?;
        }
        Ok(array)
    }

    /// Puts an array of a block's shape into its place.
    pub(crate) fn put(&mut self, block: &Block, part: &HostArray<'_>) {
        let runs = Runs::new(&self.shape, block);
        let Bytes::Owned(bytes) = &mut self.bytes else {
            unreachable!("an array that is put together owns its memory")
        };
        let mut at = 0;
        runs.visit(|range| {
            let length = range.len();
            bytes[range].copy_from_slice(&part.as_bytes()[at..][..length]);
            at += length;
        });
    }
}

impl fmt::Debug for HostArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostArray({})", self.shape)
    }
}

/// Equal when shapes and bytes are.
impl PartialEq for HostArray<'_> {
    fn eq(&self, other: &HostArray<'_>) -> bool {
        self.shape == other.shape && self.as_bytes() == other.as_bytes()
    }
}
