//! Looking at a buffer's memory from the host.

use std::fmt;
use std::ops::Deref;

use crate::buffer::Buffer;
use crate::element::Element;
use crate::pjrt::host::Plain;

/// The values of a buffer on a CPU device, seen where they are: see [`Buffer::view`].
///
/// It borrows the buffer, so the buffer can be lent meanwhile but neither given nor
/// dropped. Derefs to a slice of the row-major values.
pub struct HostView<'b, T: Element + Plain> {
    pub(crate) values: &'b [T],
    pub(crate) buffer: &'b Buffer,
}

impl<'b, T: Element + Plain> HostView<'b, T> {
    /// The buffer that is looked at.
    pub fn buffer(&self) -> &'b Buffer {
        self.buffer
    }
}

impl<T: Element + Plain> Deref for HostView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T: Element + Plain> fmt::Debug for HostView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostView({:?})", self.buffer)
    }
}
