//! Owned host memory that transfers may read after their call has returned.

use std::ops::Deref;
use std::sync::Arc;

use super::aligned::HostVec;
use super::dma::PinnedVec;
use super::host::Plain;

/// Numbers in host memory that a transfer owns until it no longer needs them: made of a `Vec`,
/// a [`HostVec`], a [`PinnedVec`], a boxed, shared or static slice, without a copy. Derefs to a
/// slice.
///
/// ```
/// let values: xla::HostValues<f32> = vec![1., 2.].into();
/// assert_eq!(values[..], [1., 2.]);
/// ```
pub struct HostValues<T: Plain>(Owner<T>);

/// Each keeps its elements in one place when it is moved, and unchanged as long as it lives: that
/// is what `pjrt` rests on when it hands out the address.
enum Owner<T: Plain> {
    Vec(Vec<T>),
    Aligned(HostVec<T>),
    Pinned(PinnedVec<T>),
    Shared(Arc<[T]>),
    Static(&'static [T]),
}

impl<T: Plain> HostValues<T> {
    /// Whether dropping it calls the plugin, to unmap it, and lets go of a client.
    pub(super) fn is_pinned(&self) -> bool {
        matches!(self.0, Owner::Pinned(_))
    }
}

impl<T: Plain> Deref for HostValues<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Owner::Vec(values) => values,
            Owner::Aligned(values) => values,
            Owner::Pinned(values) => values,
            Owner::Shared(values) => values,
            Owner::Static(values) => values,
        }
    }
}

impl<T: Plain> From<Vec<T>> for HostValues<T> {
    fn from(values: Vec<T>) -> Self {
        HostValues(Owner::Vec(values))
    }
}

impl<T: Plain> From<Box<[T]>> for HostValues<T> {
    fn from(values: Box<[T]>) -> Self {
        // A box must be alone with its memory even while it is moved; a `Vec` needn't.
        HostValues(Owner::Vec(values.into_vec()))
    }
}

impl<T: Plain> From<HostVec<T>> for HostValues<T> {
    fn from(values: HostVec<T>) -> Self {
        HostValues(Owner::Aligned(values))
    }
}

impl<T: Plain> From<PinnedVec<T>> for HostValues<T> {
    fn from(values: PinnedVec<T>) -> Self {
        HostValues(Owner::Pinned(values))
    }
}

impl<T: Plain> From<Arc<[T]>> for HostValues<T> {
    fn from(values: Arc<[T]>) -> Self {
        HostValues(Owner::Shared(values))
    }
}

impl<T: Plain> From<&'static [T]> for HostValues<T> {
    fn from(values: &'static [T]) -> Self {
        HostValues(Owner::Static(values))
    }
}

impl<T: Plain> std::fmt::Debug for HostValues<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostValues({} elements)", self.len())
    }
}
