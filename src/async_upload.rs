//! Uploads of owned memory that go on while the program does.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::client::Session;
use crate::element::Element;
use crate::error::Result;
use crate::event::Event;
use crate::host_array::HostArray;
use crate::host_tree::HostTree;
use crate::memory::Place;
use crate::pjrt::host::Plain;
use crate::pjrt::host_values::HostValues;
use crate::pjrt::{buffer, shared};
use crate::tree::{Source, Tree};
use crate::upload::{self, while_copying};
use crate::upload_shape::UploadShape;

impl Buffer {
    /// Starts copying owned, row-major values into a new buffer, and returns without waiting
    /// where the plugin can (`kImmutableUntilTransferCompletes`; the CPU plugin of API 0.115
    /// copies during the call). The buffer is pending and can be used at once.
    ///
    /// The event fires when the device has read the values, which are dropped then; it may be
    /// dropped before. When the *buffer* holds them is told by [`Buffer::ready`].
    ///
    /// ```
    /// # fn main() -> xla::Result<()> {
    /// # let client = xla::Client::cpu()?;
    /// # let device = client.device(0)?;
    /// let (buffer, done) = xla::Buffer::from_host_async(&device, vec![1f32, 2.], &[2])?;
    /// done.wait()?; // or `.await`, or `wait_timeout`; or not at all
    /// assert_eq!(buffer.to_host::<f32>()?, [1., 2.]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Buffer::from_host`]; the values are dropped.
    pub fn from_host_async<T: Element + Plain>(
        place: impl Into<Place>,
        values: impl Into<HostValues<T>>,
        dims: &[usize],
    ) -> Result<(Buffer, Event)> {
        let (place, values) = (place.into(), values.into());
        let target = place.resolve()?;
        let shape = UploadShape::of::<T>(dims, values.len(), place.session(), target.0)?;
        start(place.into_session(), target, values, shape)
    }
}

impl HostArray<'static> {
    /// Starts copying the array to a device or memory, and keeps it until that is done: see
    /// [`Buffer::from_host_async`].
    ///
    /// # Errors
    /// As [`Buffer::from_bytes`]; the array is dropped.
    pub fn to_device_async(self, place: impl Into<Place>) -> Result<(Buffer, Event)> {
        let place = place.into();
        let target = place.resolve()?;
        upload::check_bytes(self.as_bytes(), self.shape())?;
        let shape = UploadShape::like(self.shape(), place.session(), target.0)?;
        start(place.into_session(), target, self.into_bytes(), shape)
    }
}

impl<T: Tree> HostTree<'static, T> {
    /// Starts copying all leaves to a device or memory, and keeps them until that is done: see
    /// [`Buffer::from_host_async`]. The tree is pending and can be used at once; there is an event
    /// for each leaf, in order.
    ///
    /// ```
    /// # fn main() -> xla::Result<()> {
    /// use xla::{Buffer, Client, HostArray, HostTree};
    ///
    /// let client = Client::cpu()?;
    /// let device = client.device(0)?;
    /// let pair = [HostArray::new(&[1f32, 2.], &[2])?, HostArray::scalar(3)?];
    /// let pair = HostTree::<(Buffer, Buffer)>::new(pair)?;
    /// let ((vector, number), done) = pair.to_device_async(&device)?;
    /// assert_eq!(vector.to_host::<f32>()?, [1., 2.]);
    /// assert_eq!(number.to_scalar::<i32>()?, 3);
    /// for event in done {
    ///     event.wait()?; // its host memory is free
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`HostTree::to_device`]; the tree is dropped.
    pub fn to_device_async(self, place: impl Into<Place>) -> Result<(T, Vec<Event>)> {
        let place = place.into();
        let structure = self.structure().clone();
        let count = self.leaves().len();
        let (mut buffers, mut events) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (index, leaf) in self.into_leaves().into_iter().enumerate() {
            let started = leaf.to_device_async(place.clone());
            let (buffer, done) =
                started.map_err(|error| error.context(structure.describe_leaf(index)))?;
            buffers.push(buffer);
            events.push(done);
        }
        let tree = Source::new(&mut buffers.into_iter(), &structure).finish()?;
        Ok((tree, events))
    }
}

/// Uploads as many values as the shape takes.
fn start<T: Plain>(
    session: Arc<Session>,
    (at, device): (buffer::Place, usize),
    values: HostValues<T>,
    shape: UploadShape,
) -> Result<(Buffer, Event)> {
    let (element_type, dims) = (shape.shape().element_type(), shape.shape().dims());
    let started = shared::from_kept(session, values, element_type, dims, at);
    let (raw, done) =
        started.map_err(|(error, session)| while_copying(error, shape.shape(), &session, at))?;
    let form = shape.form(&raw, at)?;
    Ok((Buffer::from_raw(raw, form, device), Event::new(done)))
}
