//! Buffers: values in a device's memory, how they are made and described. Reading and copying
//! them has a file each.

mod copy;
mod read;
pub(crate) use read::copied;

use std::fmt;
use std::sync::Arc;
use std::thread::LocalKey;

use pjrt_sys::PJRT_Buffer;

use crate::account::Held;
use crate::client::{Client, Session};
use crate::device::Device;
use crate::device_shape::DeviceShape;
use crate::element::{Element, ElementType};
use crate::error::{Code, Error, Result};
use crate::event::Event;
use crate::host_vec_error::HostVecError;
use crate::host_view::HostView;
use crate::label;
use crate::launch::Launch;
use crate::memory::{Memory, Place};
use crate::pjrt::aligned::HostVec;
use crate::pjrt::handed::Handed;
use crate::pjrt::host::Plain;
use crate::pjrt::pooled::{Pool, Pooled, Pooling};
use crate::pjrt::seen::Sharing;
use crate::pjrt::{shared, Owned};
use crate::shape::{Layout, Shape};
use crate::upload;
use crate::upload_shape::UploadShape;

/// Values in a device's memory, owned.
///
/// A buffer is not `Clone`: there is one handle to its memory, so giving it to a
/// program that donates is a move. Lend it with `&`; for a second copy there is
/// [`Buffer::copy_on_device`].
///
/// A buffer may be pending (being computed or transferred), and a run can fail after
/// its call returned: reading reports that failure.
///
/// It is one word, and so is an `Option` of it: trees of buffers are cheap to move.
///
/// ```
/// # fn main() -> xla::Result<()> {
/// let client = xla::Client::cpu()?;
/// let device = client.device(0)?;
/// let matrix = xla::Buffer::from_host(&device, &[1f32, 2., 3., 4.], &[2, 2])?;
/// assert_eq!(matrix.shape().to_string(), "f32[2,2]");
/// assert_eq!(matrix.to_host::<f32>()?, [1., 2., 3., 4.]);
/// # Ok(())
/// # }
/// ```
pub struct Buffer {
    known: Pooled<Known>,
}

const _: () = assert!(size_of::<Option<Buffer>>() == size_of::<usize>());

/// A buffer's handle, and what is known of it.
struct Known {
    held: Held,
    /// The collective launch that computes it, if one does: its outcome is known
    /// without asking the plugin.
    launch: Option<Arc<Launch>>,
}

thread_local! {
    static POOL: Pool<Known> = const { Pool::new() };
}

impl Pooling for Known {
    fn pool() -> &'static LocalKey<Pool<Self>> {
        &POOL
    }
}

impl Buffer {
    #[inline]
    pub(crate) fn from_raw(
        raw: Owned<PJRT_Buffer>,
        form: Arc<DeviceShape>,
        device: usize,
    ) -> Buffer {
        Buffer {
            known: Pooled::new(Known {
                held: Held::new(raw, form, device),
                launch: None,
            }),
        }
    }

    /// Notes whether it shares the host memory that it was made of.
    pub(crate) fn with_shared(mut self, shared: bool) -> Buffer {
        self.known.held.note_shared(shared);
        self
    }

    /// The next output of a launch, on a device.
    #[inline]
    pub(crate) fn output(
        handed: &mut Handed<'_>,
        form: &Arc<DeviceShape>,
        device: usize,
        launch: &Option<Arc<Launch>>,
    ) -> Option<Buffer> {
        Some(Buffer {
            known: Pooled::new(Known {
                held: Held::new(handed.take()?, Arc::clone(form), device),
                launch: launch.clone(),
            }),
        })
    }

    /// Becomes the next output of a launch that was given this buffer and put the output into its
    /// memory. False where there is no output.
    #[inline]
    pub(crate) fn become_output(
        &mut self,
        handed: &mut Handed<'_>,
        form: &Arc<DeviceShape>,
        launch: &Option<Arc<Launch>>,
    ) -> bool {
        let known = &mut *self.known;
        if known.launch.is_some() || launch.is_some() {
            known.launch.clone_from(launch);
        }
        known.held.take_in_place(handed, form)
    }

    #[inline]
    pub(crate) fn raw(&self) -> &Owned<PJRT_Buffer> {
        self.known.held.raw()
    }

    #[inline]
    pub(crate) fn form(&self) -> &Arc<DeviceShape> {
        self.known.held.form()
    }

    #[inline]
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.raw().session()
    }

    #[inline]
    pub(crate) fn device_index(&self) -> usize {
        self.known.held.device()
    }

    #[inline]
    pub(crate) fn launch(&self) -> Option<&Arc<Launch>> {
        self.known.launch.as_ref()
    }

    pub(crate) fn is_known_good(&self) -> bool {
        self.known.held.is_known_good()
    }

    pub(crate) fn note_good(&self) {
        self.known.held.note_good();
    }

    /// Copies row-major values into a new buffer at `place`, which is a `&Device`
    /// or a `&Memory` (`PJRT_Client_BufferFromHostBuffer`). The values are read
    /// during the call only (`kImmutableOnlyDuringCall`), which takes as long as a copy on the
    /// host. From 96 MiB on the host does copy them for a CPU device, which shares the copy
    /// (`kMutableZeroCopy`). `dims` is empty for a scalar.
    ///
    /// # Errors
    /// The number of values is not what `dims` need; the device is another
    /// process's; the memory is used up.
    pub fn from_host<T: Element>(
        place: impl Into<Place>,
        values: &[T],
        dims: &[usize],
    ) -> Result<Buffer> {
        let place = place.into();
        let target = place.resolve()?;
        let shape = UploadShape::of::<T>(dims, values.len(), place.session(), target.0)?;
        upload::upload(place.into_session(), target, T::as_bytes(values), shape)
    }

    /// As [`Buffer::from_host`], with the order in which the dimensions are to lie in
    /// the device's memory, for programs that want another one than the device's usual.
    /// The values are row-major all the same.
    ///
    /// # Errors
    /// As [`Buffer::from_host`], and when the layout has another number of dimensions or
    /// the plugin refuses it.
    pub fn from_host_in_layout<T: Element>(
        place: impl Into<Place>,
        values: &[T],
        dims: &[usize],
        layout: &Layout,
    ) -> Result<Buffer> {
        let shape = Shape::of::<T>(dims)?;
        shape.check_elements(T::TYPE, values.len())?;
        if layout.rank() != shape.rank() {
            return Err(Error::invalid(format!(
                "the layout {layout} does not order the {} dimensions of {shape}",
                shape.rank()
            )));
        }
        upload::upload_in_layout(place.into(), T::as_bytes(values), &shape, layout)
    }

    /// A buffer with one value and no dimensions.
    ///
    /// # Errors
    /// As [`Buffer::from_host`].
    pub fn scalar<T: Element>(place: impl Into<Place>, value: T) -> Result<Buffer> {
        Buffer::from_host(place, &[value], &[])
    }

    /// Copies bytes into a new buffer: the elements row-major, in the machine's
    /// byte order, those narrower than a byte in the low bits of one each.
    ///
    /// # Errors
    /// The number of bytes is not [`Shape::byte_size`]; a byte of a `pred` is neither
    /// 0 nor 1; as [`Buffer::from_host`].
    pub fn from_bytes(place: impl Into<Place>, bytes: &[u8], shape: &Shape) -> Result<Buffer> {
        upload::check_bytes(bytes, shape)?;
        let place = place.into();
        let target = place.resolve()?;
        let shape = UploadShape::like(shape, place.session(), target.0)?;
        upload::upload(place.into_session(), target, bytes, shape)
    }

    /// Makes a buffer of owned host memory, which a CPU device shares instead of copying it
    /// (`kMutableZeroCopy`); other devices copy. The memory is released when XLA has
    /// finished with it: when the buffer is donated, the output lives in it.
    ///
    /// # Errors
    /// As [`Buffer::from_host`]; the values come back.
    pub fn from_host_vec<T: Element + Plain>(
        place: impl Into<Place>,
        values: HostVec<T>,
        dims: &[usize],
    ) -> std::result::Result<Buffer, HostVecError<T>> {
        let place = place.into();
        let check = || {
            let (at, device) = place.resolve()?;
            let shape = UploadShape::of::<T>(dims, values.len(), place.session(), at)?;
            Ok(((at, device), shape))
        };
        let ((at, device), shape) = match check() {
            Ok(checked) => checked,
            Err(error) => return Err(HostVecError { error, values }),
        };
        let address = values.as_ptr() as usize;
        let session = place.into_session();
        match shared::from_owned(session, values, T::TYPE, dims, at) {
            Ok(raw) => {
                let form = shape.form_as_shared(&raw, at);
                let shared = form.seen().is_shared(&raw, address, at, Sharing::Given);
                Ok(Buffer::from_raw(raw, form, device).with_shared(shared))
            }
            Err((error, values, session)) => {
                let (shape, place) = (shape.shape(), Place::of(&session, at));
                let error = error.context(format!("sharing {shape} with {place:?}"));
                Err(HostVecError { error, values })
            }
        }
    }

    /// Row-major bytes in the layout that a program wants: as many as the shape takes. What
    /// [`Buffer::from_bytes`] refuses is refused here too.
    pub(crate) fn upload_bytes(
        place: impl Into<Place>,
        bytes: &[u8],
        shape: &Shape,
        layout: &Layout,
    ) -> Result<Buffer> {
        let place = place.into();
        if layout.is_row_major() {
            return Buffer::from_bytes(place, bytes, shape);
        }
        upload::check_bytes(bytes, shape)?;
        upload::upload_in_layout(place, bytes, shape, layout)
    }

    /// The element type and dimensions.
    pub fn shape(&self) -> &Shape {
        &self.form().shape
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.shape().element_type()
    }

    /// The dimensions, the slowest varying first.
    pub fn dims(&self) -> &[usize] {
        self.shape().dims()
    }

    /// The client that holds it.
    pub fn client(&self) -> Client {
        Client::from_session(self.session())
    }

    /// The device that holds it.
    pub fn device(&self) -> Device {
        Device::new(self.session(), self.device_index())
    }

    /// The memory that holds it (`PJRT_Buffer_Memory`).
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn memory(&self) -> Result<Memory> {
        match self.raw().memory()? {
            Some(index) => Ok(Memory::new(self.session(), index)),
            None => Err(Error::new(
                Code::NotFound,
                "the buffer lies in a memory that the client doesn't list",
            )),
        }
    }

    /// The order of the dimensions in the device's memory. Reading gives row-major
    /// values whatever it is. Dimensions of size 1 may stand anywhere in a layout; where
    /// the rest is row-major it is given as that.
    pub fn layout(&self) -> &Layout {
        self.form().layout()
    }

    /// Whether the buffer shares the host memory that it was made of, by
    /// [`Buffer::from_host_vec`] or [`Client::scope`]. An output is never said to, even where
    /// it lives in a donated buffer's host memory.
    pub fn is_zero_copy(&self) -> bool {
        self.known.held.is_shared()
    }

    /// The values where they are, without a copy. Waits for them.
    ///
    /// # Errors
    /// `T` is not the buffer's element type; the device is not a CPU; the values don't lie
    /// row-major; the run that was to fill it failed.
    pub fn view<T: Element + Plain>(&self) -> Result<HostView<'_, T>> {
        let count = self.shape().element_count();
        self.shape().check_elements(T::TYPE, count)?;
        if T::TYPE.bits() < 8 || !self.layout().is_row_major() {
            return Err(Error::invalid(format!(
                "{} does not lie in memory as a Rust slice would; copy it with `to_host`",
                self.form()
            )));
        }
        self.wait_for_values()?;
        let values = self
            .raw()
            .host_slice(count, self.form().seen())?
            .ok_or_else(|| {
                Error::new(
                    Code::Unimplemented,
                    "the buffer's memory can't be looked at from the host; copy it with `to_host`",
                )
            })?;
        Ok(HostView {
            values,
            buffer: self,
        })
    }

    /// The [label](label()) that it is counted under in [`Client::memory_account`].
    pub fn label(&self) -> Option<&'static str> {
        label::name_of(self.known.held.label())
    }

    /// What it takes in the device's memory in bytes, padding included
    /// (`PJRT_Buffer_OnDeviceSizeInBytes`).
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn on_device_size(&self) -> Result<usize> {
        self.raw().on_device_size()
    }

    /// Whether the values are there (or have failed to come).
    ///
    /// # Errors
    /// The plugin can't tell.
    pub fn is_ready(&self) -> Result<bool> {
        self.raw().ready_event()?.is_ready()
    }

    /// An event that fires when the values are there (`PJRT_Buffer_ReadyEvent`).
    ///
    /// # Errors
    /// The plugin makes no event.
    pub fn ready(&self) -> Result<Event> {
        Ok(Event::new(self.raw().ready_event()?))
    }

    /// Blocks until the values are there.
    ///
    /// # Errors
    /// The run or transfer that was to fill it failed.
    pub fn wait(&self) -> Result<()> {
        self.raw().ready_event()?.await_blocking()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} on {:?})", self.shape(), self.device())
    }
}
