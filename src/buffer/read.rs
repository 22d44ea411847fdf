//! Values back to the host.

use std::sync::Arc;

use super::Buffer;
use crate::element::{Element, ElementType};
use crate::error::{Code, Error, Result};
use crate::host_read::HostRead;
use crate::pjrt::host::Plain;
use crate::pjrt::read::Read;

/// Up to how many bytes are copied in the call that starts a read.
const AT_ONCE: usize = 64 << 10;

impl Buffer {
    /// Waits for the values and copies them to the host, row-major
    /// (`PJRT_Buffer_ToHostBuffer`; on CPU the calling thread copies them, from where they lie).
    ///
    /// # Errors
    /// `T` is not the buffer's element type; the run that was to fill it failed; a
    /// byte of a `pred` is neither 0 nor 1.
    pub fn to_host<T: Element>(&self) -> Result<Vec<T>> {
        let count = self.shape().element_count();
        self.shape().check_elements(T::TYPE, count)?;
        match self.values_on_host::<T::Stored>(count)? {
            Some(values) => T::from_stored(self.form().to_row_major(copied(values)?)),
            None => self.start_read::<T>()?.wait(),
        }
    }

    /// Starts copying the values to the host and returns at once. The values are
    /// those of now: donating or dropping the buffer afterwards changes nothing.
    ///
    /// On CPU up to 64 KiB are copied in the call if they are there already: the read is then
    /// over when it is returned.
    ///
    /// # Errors
    /// `T` is not the buffer's element type.
    pub fn to_host_async<T: Element>(&self) -> Result<HostRead<T>> {
        let count = self.shape().element_count();
        self.shape().check_elements(T::TYPE, count)?;
        match self.values_at_once::<T>(count)? {
            Some(values) => {
                let read = Read::over(copied(values)?);
                Ok(HostRead::new(read, Arc::clone(self.form())))
            }
            None => self.start_read(),
        }
    }

    /// Has the plugin copy all the values.
    fn start_read<T: Element>(&self) -> Result<HostRead<T>> {
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
            match self.values_on_host(stored.len())? {
                Some(values) => stored.copy_from_slice(values),
                None => self.raw().read_into(stored)?,
            }
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
        let byte_size = self.shape().byte_size();
        let bytes = match self.values_on_host::<u8>(byte_size)? {
            Some(bytes) => copied(bytes)?,
            None => self.raw().read::<u8>(byte_size)?.finish()?,
        };
        if self.layout().is_row_major() {
            return Ok(bytes);
        }
        let elements: Vec<&[u8]> = bytes.chunks_exact(size).collect();
        Ok(self.form().to_row_major(elements).concat())
    }

    /// As [`Buffer::to_bytes`], into memory of that size.
    pub(crate) fn read_bytes_into(&self, bytes: &mut [u8]) -> Result<()> {
        if self.layout().is_row_major() && self.element_type() != ElementType::Token {
            match self.values_on_host(bytes.len())? {
                Some(values) if values.len() == self.shape().byte_size() => {
                    bytes.copy_from_slice(values);
                }
                _ => self.raw().read_into(bytes)?,
            }
            return Ok(());
        }
        bytes.copy_from_slice(&self.to_bytes()?);
        Ok(())
    }

    /// Waits until the buffer holds its values; at once where that is known.
    pub(super) fn wait_for_values(&self) -> Result<()> {
        // Of what a collective launch computes, it is known from the launch; whoever looks at
        // the memory asks the buffer itself.
        if self.launch().is_none() && self.is_known_good() {
            return Ok(());
        }
        self.wait()?;
        self.note_good();
        Ok(())
    }

    /// The values where they are, in the device's order, awaited: `None` where only the plugin
    /// can copy them. `count` is how many `T` they are.
    ///
    /// A plugin hands the copying to another thread, which takes longer than to copy a few KB.
    pub(crate) fn values_on_host<T: Plain>(&self, count: usize) -> Result<Option<&[T]>> {
        if !self.may_lie_on_host() {
            return Ok(None);
        }
        self.wait_for_values()?;
        Ok(self.look(count))
    }

    /// As [`values_on_host`](Self::values_on_host), if the values are there and `count` of them
    /// are copied as quickly as a copy is started. A failure is left to the plugin's copy to tell.
    pub(crate) fn values_at_once<T: Element>(&self, count: usize) -> Result<Option<&[T::Stored]>> {
        if count * size_of::<T>() > AT_ONCE || !self.may_lie_on_host() {
            return Ok(None);
        }
        if self.launch().is_some() || !self.is_known_good() {
            let ready = self.raw().ready_event()?;
            if !ready.is_ready()? || ready.outcome().is_err() {
                return Ok(None);
            }
            self.note_good();
        }
        Ok(self.look(self.shape().element_count()))
    }

    /// A plugin that doesn't say where the values are may copy them all the same.
    fn look<T: Plain>(&self, count: usize) -> Option<&[T]> {
        self.raw()
            .host_slice(count, self.form().seen())
            .unwrap_or(None)
    }

    /// Elements narrower than a byte lie packed on the device.
    fn may_lie_on_host(&self) -> bool {
        self.element_type().bits() >= 8 && self.session().platform_name() == "cpu"
    }
}

/// A copy, where there is memory for it.
pub(crate) fn copied<T: Plain>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    if copy.try_reserve_exact(values.len()).is_err() {
        return Err(Error::new(
            Code::ResourceExhausted,
            format!("the host has no memory for {} elements", values.len()),
        ));
    }
    copy.extend_from_slice(values);
    Ok(copy)
}
