//! Values back to the host.

use std::sync::Arc;

use super::Buffer;
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::host_read::HostRead;

impl Buffer {
    /// Copies the values to the host, row-major, and waits for them
    /// (`PJRT_Buffer_ToHostBuffer`).
    ///
    /// # Errors
    /// `T` is not the buffer's element type; the run that was to fill it failed; a
    /// byte of a `pred` is neither 0 nor 1.
    pub fn to_host<T: Element>(&self) -> Result<Vec<T>> {
        self.to_host_async::<T>()?.wait()
    }

    /// Starts copying the values to the host and returns at once. The values are
    /// those of now: donating or dropping the buffer afterwards changes nothing.
    ///
    /// # Errors
    /// `T` is not the buffer's element type.
    pub fn to_host_async<T: Element>(&self) -> Result<HostRead<T>> {
        self.shape()
            .check_elements(T::TYPE, self.shape().element_count())?;
        let read = self.raw().read::<T::Stored>(self.shape().element_count())?;
        Ok(HostRead::new(read, Arc::clone(self.form())))
    }

    /// Copies the values into `values`, row-major, and waits for them.
    ///
    /// # Errors
    /// As [`Buffer::to_host`], and when `values` is not as long as the buffer has
    /// elements. `values` holds anything then.
    pub fn read_into<T: Element>(&self, values: &mut [T]) -> Result<()> {
        self.shape().check_elements(T::TYPE, values.len())?;
        T::read_stored(values, &mut |stored| {
            self.raw().read_into(stored)?;
            if !self.layout().is_row_major() {
                let ordered = self.form().to_row_major(stored.to_vec());
                stored.copy_from_slice(&ordered);
            }
            Ok(())
        })
    }

    /// The only element, of a buffer that has one.
    ///
    /// # Errors
    /// As [`Buffer::to_host`], and when there is not exactly one element.
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        if self.shape().element_count() != 1 {
            return Err(Error::invalid(format!(
                "a single element was asked for, but {} has {}",
                self.shape(),
                self.shape().element_count()
            )));
        }
        let values = self.to_host::<T>()?;
        Ok(values[0])
    }

    /// Copies the values to the host as bytes, in the form that
    /// [`Buffer::from_bytes`] takes, and waits for them.
    ///
    /// # Errors
    /// The run that was to fill it failed; it is a token.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let size = self.element_type().host_size();
        if size == 0 {
            return Err(Error::invalid("a token has no bytes to read"));
        }
        let bytes = self.raw().read::<u8>(self.shape().byte_size())?.finish()?;
        if self.layout().is_row_major() {
            return Ok(bytes);
        }
        let elements: Vec<&[u8]> = bytes.chunks_exact(size).collect();
        Ok(self.form().to_row_major(elements).concat())
    }

    /// As [`Buffer::to_bytes`], into memory of that size.
    pub(crate) fn read_bytes_into(&self, bytes: &mut [u8]) -> Result<()> {
        if self.layout().is_row_major() && self.element_type() != ElementType::Token {
            return self.raw().read_into(bytes);
        }
        bytes.copy_from_slice(&self.to_bytes()?);
        Ok(())
    }
}
