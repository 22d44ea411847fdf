//! Copies of a buffer: on another device, in another memory, beside itself.

use std::sync::Arc;

use super::Buffer;
use crate::device::Device;
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::memory::{Memory, Place};
use crate::upload;
use crate::upload_shape::UploadShape;

impl Buffer {
    /// Starts a copy to another device of the client
    /// (`PJRT_Buffer_CopyToDevice`). To its own device it is
    /// [`Buffer::copy_on_device`].
    ///
    /// # Errors
    /// The device is another client's or another process's.
    pub fn copy_to_device(&self, device: &Device) -> Result<Buffer> {
        if device.index() == self.device_index() && Arc::ptr_eq(device.session(), self.session()) {
            return self.copy_on_device();
        }
        self.copy_to(&Place::from(device))
    }

    /// Starts a copy to a memory of the client (`PJRT_Buffer_CopyToMemory`).
    ///
    /// # Errors
    /// The memory is another client's.
    pub fn copy_to_memory(&self, memory: &Memory) -> Result<Buffer> {
        if self.raw().memory()?.is_some() && self.memory()? == *memory {
            return self.copy_on_device();
        }
        self.copy_to(&Place::from(memory))
    }

    fn copy_to(&self, place: &Place) -> Result<Buffer> {
        if !Arc::ptr_eq(place.session(), self.session()) {
            return Err(Error::invalid(format!(
                "{place:?} belongs to another client than the buffer {}; copy through the host",
                self.shape()
            )));
        }
        if self.element_type() == ElementType::Token {
            return Err(Error::invalid("a token can't be copied: it has no data"));
        }
        if !self.layout().is_row_major() && self.client().platform_name() == "cpu" {
            // The copies of 0.81 lose the layout and scramble the values.
            return self.copy_through_host(place.clone());
        }
        let (at, device) = place.resolve()?;
        let raw = self
            .raw()
            .copy_to(at)
            .map_err(|error| error.context(format!("copying {} to {place:?}", self.shape())))?;
        let form = upload::device_shape_of(&raw, self.shape())?;
        Ok(Buffer::from_raw(raw, form, device))
    }

    /// A copy with the same layout, by way of the host.
    fn copy_through_host(&self, place: Place) -> Result<Buffer> {
        let bytes = self.to_bytes()?;
        // Of types narrower than a byte the CPU plugins take no layout at all.
        if self.layout().is_row_major() {
            let target = place.resolve()?;
            let shape = UploadShape::like(self.shape(), place.session(), target.0)?;
            return upload::upload(place.into_session(), target, &bytes, shape);
        }
        upload::upload_in_layout(place, &bytes, self.shape(), self.layout())
    }

    /// A second buffer with the same values on the same device: memory is taken
    /// and filled, which costs what it costs. Waits for the values.
    ///
    /// PJRT has no such copy (a copy to the own device is refused), so the values
    /// go through the host.
    ///
    /// # Errors
    /// The run that was to fill it failed; the memory is used up.
    #[doc(alias = "clone")]
    pub fn copy_on_device(&self) -> Result<Buffer> {
        let place = match self.raw().memory()? {
            Some(index) => Place::from(&Memory::new(self.session(), index)),
            None => Place::from(&self.device()),
        };
        self.copy_through_host(place)
    }
}
