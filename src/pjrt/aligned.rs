//! Host memory aligned as XLA wants it for sharing.

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::host::Plain;

/// What XLA's CPU devices ask of memory that they share rather than copy, in bytes.
const ALIGNMENT: usize = 64;

/// A list of numbers in host memory that a CPU device can share instead of copying it:
/// aligned to 64 bytes, of fixed length, owned. Derefs to a slice.
///
/// ```
/// let mut values = xla::HostVec::<f32>::zeroed(3);
/// values[1] = 2.0;
/// assert_eq!(values[..], [0., 2., 0.]);
/// assert_eq!(values.as_ptr() as usize % 64, 0);
/// ```
pub struct HostVec<T: Plain> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns plain numbers, as `Vec<T>` does.
unsafe impl<T: Plain> Send for HostVec<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for HostVec<T> {}

impl<T: Plain> HostVec<T> {
    /// `len` zeros.
    ///
    /// # Panics
    /// The size in bytes is more than an `isize` counts, as for `Vec`.
    pub fn zeroed(len: usize) -> HostVec<T> {
        match HostVec::try_zeroed(len) {
            Some(zeros) => zeros,
            None => handle_alloc_error(Self::layout(len)),
        }
    }

    /// `len` zeros, where there is memory for them.
    pub(crate) fn try_zeroed(len: usize) -> Option<HostVec<T>> {
        let layout = Self::layout(len);
        if layout.size() == 0 {
            let start = NonNull::dangling();
            return Some(HostVec { start, len });
        }
        // SAFETY: the layout has a size.
        let start = unsafe { alloc_zeroed(layout) }.cast::<T>();
        // All-zero bytes are a value of every `Plain`.
        NonNull::new(start).map(|start| HostVec { start, len })
    }

    /// The same values in memory of their own.
    pub fn from_slice(values: &[T]) -> HostVec<T> {
        let mut copy = HostVec::zeroed(values.len());
        copy.copy_from_slice(values);
        copy
    }

    fn layout(len: usize) -> Layout {
        let bytes = len.checked_mul(size_of::<T>());
        match bytes.and_then(|bytes| Layout::from_size_align(bytes, ALIGNMENT).ok()) {
            Some(layout) => layout,
            None => panic!("a HostVec of {len} elements is larger than memory can be"),
        }
    }
}

impl<T: Plain> Drop for HostVec<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len);
        if layout.size() != 0 {
            // SAFETY: allocated in `zeroed` with this layout, freed once.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) }
        }
    }
}

impl<T: Plain> Deref for HostVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` initialised elements, owned; dangling only when there are no bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for HostVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> From<&[T]> for HostVec<T> {
    fn from(values: &[T]) -> HostVec<T> {
        HostVec::from_slice(values)
    }
}

/// Copies: a `Vec` is not aligned enough to be taken as it is.
impl<T: Plain> From<Vec<T>> for HostVec<T> {
    fn from(values: Vec<T>) -> HostVec<T> {
        HostVec::from_slice(&values)
    }
}

impl<T: Plain> Clone for HostVec<T> {
    fn clone(&self) -> HostVec<T> {
        HostVec::from_slice(self)
    }
}

impl<T: Plain + std::fmt::Debug> std::fmt::Debug for HostVec<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
