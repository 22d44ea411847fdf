//! Host memory that could not be shared.

use std::fmt;

use crate::error::Error;
use crate::pjrt::aligned::HostVec;
use crate::pjrt::host::Plain;

/// Why no buffer could be made of a [`HostVec`], and the values.
pub struct HostVecError<T: Plain> {
    pub(crate) error: Error,
    pub(crate) values: HostVec<T>,
}

impl<T: Plain> HostVecError<T> {
    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The values, as they were given.
    pub fn into_values(self) -> HostVec<T> {
        self.values
    }
}

impl<T: Plain> From<HostVecError<T>> for Error {
    fn from(error: HostVecError<T>) -> Error {
        error.error
    }
}

impl<T: Plain> fmt::Display for HostVecError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T: Plain> fmt::Debug for HostVecError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<T: Plain> std::error::Error for HostVecError<T> {}
