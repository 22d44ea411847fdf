//! Between host memory and devices through the C API.

use std::ffi::c_void;

use pjrt_sys::{
    Args, PJRT_Buffer, PJRT_Buffer_Destroy_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args, PJRT_Buffer_Type, PJRT_Buffer_UnsafePointer_Args,
    PJRT_Client_BufferFromHostBuffer_Args, PJRT_Error, PJRT_Event_OnReady_Args,
    PJRT_HostBufferSemantics,
};

use super::{call, Client, Event};

/// A buffer's handle; whoever has it destroys it.
pub type Buffer = *mut PJRT_Buffer;

/// How long host memory is used after the call.
pub type Kept = PJRT_HostBufferSemantics;

/// A Rust number that is an element as it is.
pub trait Number: Copy {
    /// What the C API calls it.
    const TYPE: PJRT_Buffer_Type;
}

impl Number for f32 {
    const TYPE: PJRT_Buffer_Type = PJRT_Buffer_Type::F32;
}

impl Number for i32 {
    const TYPE: PJRT_Buffer_Type = PJRT_Buffer_Type::S32;
}

impl Number for u32 {
    const TYPE: PJRT_Buffer_Type = PJRT_Buffer_Type::U32;
}

impl Number for u8 {
    const TYPE: PJRT_Buffer_Type = PJRT_Buffer_Type::U8;
}

impl Client {
    /// Copies numbers to a device. They are read during the call only.
    ///
    /// # Panics
    /// The plugin refuses.
    #[inline]
    pub fn from_host<T: Number>(&self, device: usize, values: &[T], dims: &[i64]) -> Buffer {
        // SAFETY: the memory isn't used after the call.
        let (buffer, done) =
            unsafe { self.from_host_kept(device, values, dims, Kept::ImmutableOnlyDuringCall) };
        self.destroy_event(done);
        buffer
    }

    /// A buffer of numbers, which are used until the event has fired.
    ///
    /// # Safety
    /// The numbers stay until then and aren't written to; with
    /// [`Kept::MutableZeroCopy`] nobody else looks at them meanwhile.
    ///
    /// # Panics
    /// The plugin refuses.
    #[inline]
    pub unsafe fn from_host_kept<T: Number>(
        &self,
        device: usize,
        values: &[T],
        dims: &[i64],
        kept: Kept,
    ) -> (Buffer, Event) {
        let mut args = PJRT_Client_BufferFromHostBuffer_Args::zeroed();
        args.client = self.client;
        args.data = values.as_ptr().cast();
        args.type_ = T::TYPE;
        args.dims = dims.as_ptr();
        args.num_dims = dims.len();
        args.host_buffer_semantics = kept;
        args.device = self.devices[device];
        call!(self.api, PJRT_Client_BufferFromHostBuffer, args);
        (args.buffer, args.done_with_host_buffer)
    }

    /// Copies `count` numbers from a device and waits for them.
    ///
    /// # Safety
    /// The buffer is alive and has `count` numbers of this type.
    ///
    /// # Panics
    /// The plugin refuses, or the values failed to come.
    pub unsafe fn to_host<T: Number>(&self, buffer: Buffer, count: usize) -> Vec<T> {
        let mut values = Vec::<T>::with_capacity(count);
        // SAFETY: the caller's promise, and room for as many.
        unsafe {
            self.read(buffer, values.as_mut_ptr(), count);
            values.set_len(count);
        }
        values
    }

    /// As [`to_host`](Client::to_host), into memory that is there.
    ///
    /// # Safety
    /// The buffer is alive and has as many numbers of this type.
    ///
    /// # Panics
    /// As [`to_host`](Client::to_host).
    pub unsafe fn read_into<T: Number>(&self, buffer: Buffer, values: &mut [T]) {
        // SAFETY: the caller's promise.
        unsafe { self.read(buffer, values.as_mut_ptr(), values.len()) };
    }

    /// # Safety
    /// As [`to_host`](Client::to_host), with room for `count` numbers.
    unsafe fn read<T: Number>(&self, buffer: Buffer, to: *mut T, count: usize) {
        // SAFETY: the caller's promise; the event was just handed out.
        unsafe { self.wait(self.start_read(buffer, to, count)) };
    }

    /// Starts a copy to the host; the event fires when it is there.
    ///
    /// # Safety
    /// The buffer is alive and has `count` numbers of this type; there is room for them until
    /// the event has fired.
    ///
    /// # Panics
    /// The plugin refuses.
    pub unsafe fn start_read<T: Number>(&self, buffer: Buffer, to: *mut T, count: usize) -> Event {
        let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
        args.src = buffer;
        args.dst = to.cast();
        args.dst_size = count * size_of::<T>();
        call!(self.api, PJRT_Buffer_ToHostBuffer, args);
        args.event
    }

    /// Where the values lie, once they are there.
    ///
    /// # Safety
    /// The buffer is alive.
    ///
    /// # Panics
    /// The plugin refuses.
    pub unsafe fn address(&self, buffer: Buffer) -> usize {
        let mut args = PJRT_Buffer_UnsafePointer_Args::zeroed();
        args.buffer = buffer;
        call!(self.api, PJRT_Buffer_UnsafePointer, args);
        args.buffer_pointer
    }

    /// Drops something when an event has fired, on whatever thread that is, and destroys the
    /// event.
    ///
    /// # Safety
    /// The event is alive and nobody else has it.
    ///
    /// # Panics
    /// The plugin refuses.
    pub unsafe fn drop_after<V: Send + 'static>(&self, event: Event, values: V) {
        unsafe extern "C" fn fired<V>(error: *mut PJRT_Error, values: *mut c_void) {
            assert!(error.is_null(), "a transfer failed");
            // SAFETY: the box that was given away below; the plugin calls once.
            drop(unsafe { Box::from_raw(values.cast::<V>()) });
        }
        let mut args = PJRT_Event_OnReady_Args::zeroed();
        args.event = event;
        args.callback = Some(fired::<V>);
        args.user_arg = Box::into_raw(Box::new(values)).cast();
        call!(self.api, PJRT_Event_OnReady, args);
        self.destroy_event(event);
    }

    /// Waits until a buffer has its values.
    ///
    /// # Safety
    /// The buffer is alive.
    ///
    /// # Panics
    /// They failed to come.
    pub unsafe fn wait_for(&self, buffer: Buffer) {
        let mut args = PJRT_Buffer_ReadyEvent_Args::zeroed();
        args.buffer = buffer;
        call!(self.api, PJRT_Buffer_ReadyEvent, args);
        // SAFETY: the event was just handed out.
        unsafe { self.wait(args.event) };
    }

    /// Destroys a buffer.
    ///
    /// # Safety
    /// The buffer is alive and nobody else has it.
    ///
    /// # Panics
    /// The plugin refuses.
    #[inline]
    pub unsafe fn destroy(&self, buffer: Buffer) {
        let mut args = PJRT_Buffer_Destroy_Args::zeroed();
        args.buffer = buffer;
        call!(self.api, PJRT_Buffer_Destroy, args);
    }
}
