//! What a run gives.

use std::ops::Deref;

use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::error::{Error, Result};

/// The outputs of a run on one device, in the program's order.
///
/// A slice of buffers that can be taken apart by value:
///
/// ```no_run
/// # fn f(step: &xla::Executable, w: xla::Buffer, g: &xla::Buffer) -> xla::Result<()> {
/// let [w, loss] = step.run((w, g))?.into_array()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Outputs {
    pub(crate) buffers: SmallVec<[Buffer; 4]>,
}

impl Outputs {
    /// Exactly `N` outputs.
    ///
    /// # Errors
    /// The program has another number of them.
    pub fn into_array<const N: usize>(self) -> Result<[Buffer; N]> {
        let count = self.buffers.len();
        if count != N {
            return Err(Error::invalid(format!(
                "{N} outputs were asked for, but the program has {count}"
            )));
        }
        let mut buffers = self.buffers.into_iter();
        Ok(std::array::from_fn(|_| match buffers.next() {
            Some(buffer) => buffer,
            None => unreachable!("the outputs were counted"),
        }))
    }

    /// The only output.
    ///
    /// # Errors
    /// The program has another number of them.
    #[inline]
    pub fn into_single(self) -> Result<Buffer> {
        let mut buffers = self.buffers;
        let count = buffers.len();
        match buffers.pop() {
            Some(buffer) if count == 1 => {
                if !buffers.spilled() {
                    // Nothing is left to drop, which dropping would have to find out.
                    std::mem::forget(buffers);
                }
                Ok(buffer)
            }
            _ => Err(not_single(count)),
        }
    }

    /// All outputs in a `Vec`.
    pub fn into_vec(self) -> Vec<Buffer> {
        self.buffers.into_vec()
    }
}

#[cold]
fn not_single(count: usize) -> Error {
    Error::invalid(format!(
        "a single output was asked for, but the program has {count}"
    ))
}

impl Deref for Outputs {
    type Target = [Buffer];

    fn deref(&self) -> &[Buffer] {
        &self.buffers
    }
}

impl IntoIterator for Outputs {
    type Item = Buffer;
    type IntoIter = smallvec::IntoIter<[Buffer; 4]>;

    fn into_iter(self) -> Self::IntoIter {
        self.buffers.into_iter()
    }
}
