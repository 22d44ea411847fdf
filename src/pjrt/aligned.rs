//! Host memory aligned as XLA wants it for sharing.

use std::alloc::{alloc, alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::host::Plain;

/// What XLA's CPU devices ask of memory that they share rather than copy, in bytes.
pub(super) const ALIGNMENT: usize = 64;

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
    /// What was allocated, in which the list lies. Dangling where there are no bytes.
    block: NonNull<u8>,
    /// How many bytes of the block are not the list's.
    spare: usize,
}

/// What allocators align to without being asked. They have memory that is zero already, and
/// needn't be written to, for what is aligned as usual only, so a list aligns itself in its block.
const USUAL: usize = 2 * size_of::<usize>();

/// What is allocated beside a list to align it.
const SPARE: usize = ALIGNMENT - USUAL;

/// Processors take addresses for the same that are so many bytes apart, for a moment.
const ALIAS: usize = 4096;

/// From how many bytes on a copy goes past the caches, about, and its memory is laid out for that.
pub(crate) const LARGE_COPY: usize = 96 << 20;

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
            None => handle_alloc_error(Self::layout(len, SPARE)),
        }
    }

    /// `len` zeros, where there is memory for them. Large ones are made by the system when they
    /// are first touched.
    pub(crate) fn try_zeroed(len: usize) -> Option<HostVec<T>> {
        // SAFETY: all-zero bytes are a value of every `Plain`.
        unsafe { HostVec::allocated(len, alloc_zeroed, None) }
    }

    /// The same values in memory of their own.
    pub fn from_slice(values: &[T]) -> HostVec<T> {
        match HostVec::try_from_slice(values) {
            Some(copy) => copy,
            None => handle_alloc_error(Self::layout(values.len(), SPARE)),
        }
    }

    /// The same values in memory of their own, where there is some.
    pub(crate) fn try_from_slice(values: &[T]) -> Option<HostVec<T>> {
        let source = values.as_ptr() as usize;
        let away_from = (size_of_val(values) >= LARGE_COPY).then_some(source);
        // SAFETY: filled below, before anybody sees it: as many elements, and new memory
        // overlaps nothing.
        unsafe {
            let copy = HostVec::allocated(values.len(), alloc, away_from)?;
            values
                .as_ptr()
                .copy_to_nonoverlapping(copy.start.as_ptr(), values.len());
            Some(copy)
        }
    }

    /// A list in memory that `allocate` gives. Where it is to be copied from an address, it lies half
    /// of [`ALIAS`] away from that, in the lower bits: a copy whose destination is a few bytes
    /// behind its source there takes a fifth more time, since its reads seem to depend on its
    /// last writes.
    ///
    /// # Safety
    /// `allocate` is the allocator's. What it leaves without values is written before it is read.
    unsafe fn allocated(
        len: usize,
        allocate: unsafe fn(Layout) -> *mut u8,
        away_from: Option<usize>,
    ) -> Option<HostVec<T>> {
        let spare = match away_from {
            Some(_) => SPARE + ALIAS,
            None => SPARE,
        };
        let layout = Self::layout(len, spare);
        if layout.size() == 0 {
            return Some(HostVec {
                start: NonNull::dangling(),
                len,
                block: NonNull::dangling(),
                spare,
            });
        }
        // SAFETY: the layout has a size.
        let block = NonNull::new(unsafe { allocate(layout) })?;
        let address = block.as_ptr() as usize;
        let aligned = address.next_multiple_of(ALIGNMENT) - address;
        let further = match away_from {
            Some(source) => {
                let wanted = source.wrapping_add(ALIAS / 2);
                wanted.wrapping_sub(address + aligned) % ALIAS / ALIGNMENT * ALIGNMENT
            }
            None => 0,
        };
        // SAFETY: a block is aligned to `USUAL`, which divides `ALIGNMENT`, so `aligned` is at
        // most `SPARE`, and `further` is less than `ALIAS`: `spare` is no less than their sum.
        let start = unsafe { block.add(aligned + further) }.cast();
        Some(HostVec {
            start,
            len,
            block,
            spare,
        })
    }

    /// The block of a list.
    fn layout(len: usize, spare: usize) -> Layout {
        let bytes = match len.checked_mul(size_of::<T>()) {
            Some(0) => Some(0),
            bytes => bytes.and_then(|bytes| bytes.checked_add(spare)),
        };
        match bytes.and_then(|bytes| Layout::from_size_align(bytes, USUAL).ok()) {
            Some(layout) => layout,
            None => panic!("a HostVec of {len} elements is larger than memory can be"),
        }
    }
}

impl<T: Plain> Drop for HostVec<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len, self.spare);
        if layout.size() != 0 {
            // SAFETY: allocated in `allocated` with this layout, freed once.
            unsafe { dealloc(self.block.as_ptr(), layout) }
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
