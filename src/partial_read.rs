//! Reading some elements of a buffer.

use std::ops::Range;
use std::sync::Arc;

use crate::buffer::{copied, Buffer};
use crate::element::Element;
use crate::error::{Code, Error, Result};
use crate::host_read::HostRead;
use crate::pjrt::read::Read;

/// The API minor from which on a read of a part may be started while a run is to fill the
/// buffer: 0.81 dereferences null then (fact 51). The versions between are not known.
const RAW_READS_WAIT: i32 = 106;

/// Reading some of the elements.
///
/// Elements are counted in row-major order, whatever the buffer's layout. Only the range is
/// copied where that is how the elements lie on the device: densely, in row-major order, a byte
/// or more each (`PJRT_Buffer_CopyRawToHost`; on CPU the host copies it itself, from where it
/// lies, if the values are there). Elsewhere (another layout, a type narrower than
/// a byte, padded memory, a plugin without that function) the whole buffer is copied to the
/// host, and the range is taken from there. So it is by [`Buffer::to_host_range_async`] of a
/// buffer that is pending, where the plugin's API is older than 0.106.
impl Buffer {
    /// Copies the elements from the `first` on into `values`, as many as fit there, and waits
    /// for them.
    ///
    /// ```
    /// # fn main() -> xla::Result<()> {
    /// # let client = xla::Client::cpu()?;
    /// # let device = client.device(0)?;
    /// let matrix = xla::Buffer::from_host(&device, &[1f32, 2., 3., 4., 5., 6.], &[2, 3])?;
    /// let mut row = [0f32; 3];
    /// matrix.read_range_into(&mut row, 3)?;
    /// assert_eq!(row, [4., 5., 6.]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Buffer::read_into`]; the range reaches out of the buffer.
    pub fn read_range_into<T: Element>(&self, values: &mut [T], first: usize) -> Result<()> {
        let range = self.check_range::<T>(first, values.len())?;
        if let Some(all) = self.plain_values::<T>()? {
            return T::read_stored(values, &mut |stored| {
                stored.copy_from_slice(&all[range.clone()]);
                Ok(())
            });
        }
        if self.has_plain_memory()? {
            if !self.raw_reads_may_pend() {
                self.wait()?;
            }
            let read = T::read_stored(values, &mut |stored| {
                self.raw().read_range_into(first, stored)
            });
            match read {
                Err(error) if lacks_raw_reads(&error) => {}
                outcome => return outcome,
            }
        }
        values.copy_from_slice(&self.to_host::<T>()?[range]);
        Ok(())
    }

    /// Copies a range of the elements to the host and waits for them.
    ///
    /// # Errors
    /// As [`Buffer::to_host`]; the range reaches out of the buffer.
    pub fn to_host_range<T: Element>(&self, range: Range<usize>) -> Result<Vec<T>> {
        let range = self.check_range_of::<T>(range)?;
        if let Some(all) = self.plain_values::<T>()? {
            return T::from_stored(copied(&all[range])?);
        }
        self.start_range::<T>(range)?.wait()
    }

    /// Starts copying a range of the elements to the host and returns at once. The values are
    /// those of now, as with [`Buffer::to_host_async`].
    ///
    /// # Errors
    /// `T` is not the buffer's element type; the range reaches out of the buffer.
    pub fn to_host_range_async<T: Element>(&self, range: Range<usize>) -> Result<HostRead<T>> {
        let range = self.check_range_of::<T>(range)?;
        if self.layout().is_row_major() {
            if let Some(all) = self.values_at_once::<T>(range.len())? {
                let values = copied(&all[range])?;
                return Ok(HostRead::new(Read::over(values), Arc::clone(self.form())));
            }
        }
        self.start_range::<T>(range)
    }

    /// Starts a copy of elements that there are.
    fn start_range<T: Element>(&self, range: Range<usize>) -> Result<HostRead<T>> {
        let count = range.len();
        if self.has_plain_memory()? && (self.raw_reads_may_pend() || self.is_there()) {
            match self.raw().read_range::<T::Stored>(range.start, count) {
                Err(error) if lacks_raw_reads(&error) => {}
                Err(error) => return Err(error),
                Ok(read) => return Ok(HostRead::new(read, Arc::clone(self.form()))),
            }
        }
        Ok(self.to_host_async::<T>()?.of_range(range))
    }

    /// All the values, awaited, where they lie on the host as a slice does.
    fn plain_values<T: Element>(&self) -> Result<Option<&[T::Stored]>> {
        if !self.layout().is_row_major() {
            return Ok(None);
        }
        self.values_on_host(self.shape().element_count())
    }

    /// Refuses another type, and a range that isn't one or reaches out of the buffer.
    fn check_range_of<T: Element>(&self, range: Range<usize>) -> Result<Range<usize>> {
        let count = range.end.checked_sub(range.start).ok_or_else(|| {
            Error::invalid(format!(
                "the range of elements {range:?} ends before it begins"
            ))
        })?;
        self.check_range::<T>(range.start, count)
    }

    /// Refuses another type, and elements that there aren't.
    fn check_range<T: Element>(&self, first: usize, count: usize) -> Result<Range<usize>> {
        let shape = self.shape();
        shape.check_elements(T::TYPE, shape.element_count())?;
        match first.checked_add(count) {
            Some(end) if end <= shape.element_count() => Ok(first..end),
            _ => Err(Error::new(
                Code::OutOfRange,
                format!(
                    "{count} elements from number {first} on were asked for, but {shape} has {}",
                    shape.element_count()
                ),
            )),
        }
    }

    /// Whether the elements lie on the device as a Rust slice would.
    fn has_plain_memory(&self) -> Result<bool> {
        Ok(self.element_type().bits() >= 8
            && self.layout().is_row_major()
            && self.on_device_size()? == self.shape().byte_size())
    }

    /// Whether the plugin can be asked for a part before the values are there (fact 51).
    fn raw_reads_may_pend(&self) -> bool {
        let (_, minor) = self.session().api.version();
        minor >= RAW_READS_WAIT
    }

    /// Whether the values have come, and well.
    fn is_there(&self) -> bool {
        matches!(self.is_ready(), Ok(true)) && self.wait().is_ok()
    }
}

/// Whether the plugin has no copies of parts, or none for this device.
fn lacks_raw_reads(error: &Error) -> bool {
    error.code() == Code::Unimplemented && error.function() == Some("PJRT_Buffer_CopyRawToHost")
}
