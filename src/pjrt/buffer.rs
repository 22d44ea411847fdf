//! Buffers: made from host memory, read back, copied, described.

use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Buffer_CopyToDevice_Args, PJRT_Buffer_CopyToMemory_Args,
    PJRT_Buffer_GetMemoryLayout_Args, PJRT_Buffer_IsDeleted_Args, PJRT_Buffer_MemoryLayout,
    PJRT_Buffer_MemoryLayout_Tiled, PJRT_Buffer_MemoryLayout_Type, PJRT_Buffer_Memory_Args,
    PJRT_Buffer_OnDeviceSizeInBytes_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args, PJRT_Client_BufferFromHostBuffer_Args, PJRT_Event,
    PJRT_HostBufferSemantics,
};

use super::client::nothing_from;
use super::element_type;
use super::event::Notice;
use super::host::{bytes_mut, Plain};
use super::owned::Owned;
use super::parts;
use crate::client::Session;
use crate::element::ElementType;
use crate::error::{Code, Error, Result};

/// Where a new buffer goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The default memory of the device with this index.
    Device(usize),
    /// The memory with this index.
    Memory(usize),
}

/// The order of a buffer's dimensions in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RawLayout {
    /// Dimension indices, the fastest varying first.
    MinorToMajor(Vec<i64>),
    /// Byte distances between neighbours, a dimension each.
    Strides(Vec<i64>),
}

/// Copies `data`, dense and row-major, into a new buffer. The data is read
/// during the call only (`kImmutableOnlyDuringCall`, fact 11).
///
/// The caller has checked that `data` is as long as type and dims need, and that
/// `minor_to_major`, the order on the device if it is not to be the plugin's choice,
/// has as many dimensions.
pub(crate) fn from_host(
    session: &Arc<Session>,
    data: &[u8],
    element_type: ElementType,
    dims: &[i64],
    minor_to_major: Option<&[i64]>,
    place: Place,
) -> Result<Owned<PJRT_Buffer>> {
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    // SAFETY: with these semantics nothing is kept after the call.
    let (buffer, _done) = unsafe {
        host_buffer(
            session,
            data.as_ptr(),
            element_type,
            dims,
            minor_to_major,
            place,
            semantics,
        )
    };
    buffer
}

/// Makes a buffer of host memory (`PJRT_Client_BufferFromHostBuffer`). The event, if there
/// is one, fires when the memory is no longer used; there can be one on failure too.
///
/// # Safety
/// `data` points to as many bytes as type and dims need. They stay, and are written to by
/// nobody but XLA, as long as `semantics` ask; it may write only where they say so.
pub(super) unsafe fn host_buffer(
    session: &Arc<Session>,
    data: *const u8,
    element_type: ElementType,
    dims: &[i64],
    minor_to_major: Option<&[i64]>,
    place: Place,
    semantics: PJRT_HostBufferSemantics,
) -> (Result<Owned<PJRT_Buffer>>, Option<Owned<PJRT_Event>>) {
    let client = &session.raw;
    let mut args = PJRT_Client_BufferFromHostBuffer_Args::zeroed();
    args.client = client.raw();
    args.data = data.cast();
    args.type_ = element_type::to_raw(element_type);
    args.dims = dims.as_ptr();
    args.num_dims = dims.len();
    args.host_buffer_semantics = semantics;
    match place {
        Place::Device(index) => args.device = client.device(index),
        Place::Memory(index) => args.memory = client.memory(index),
    }
    let mut layout = PJRT_Buffer_MemoryLayout::zeroed();
    if let Some(order) = minor_to_major {
        let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::zeroed();
        tiled.minor_to_major = order.as_ptr();
        tiled.minor_to_major_size = order.len();
        layout.type_ = PJRT_Buffer_MemoryLayout_Type::Tiled;
        layout.layout.tiled = tiled;
        args.device_layout = &mut layout;
    }
    // SAFETY: dims and layout outlive the call, which keeps neither; the caller answers for
    // the data; the client is alive and the place is its own. What it hands out is owned
    // before the status is looked at (fact 22).
    unsafe {
        let status = client
            .api()
            .call(entry::PJRT_Client_BufferFromHostBuffer, &mut args);
        let buffer = Owned::adopt(session, args.buffer);
        let done = Owned::adopt(session, args.done_with_host_buffer);
        let missing = || nothing_from("PJRT_Client_BufferFromHostBuffer");
        (status.and_then(|()| buffer.ok_or_else(missing)), done)
    }
}

impl Owned<PJRT_Buffer> {
    /// The layout in the device's memory.
    pub(crate) fn layout(&self) -> Result<RawLayout> {
        let mut args = PJRT_Buffer_GetMemoryLayout_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive; the layout's lists live as long, the union
        // is read by its tag, and the lists are copied.
        unsafe {
            self.api()
                .call(entry::PJRT_Buffer_GetMemoryLayout, &mut args)?;
            match args.layout.type_ {
                PJRT_Buffer_MemoryLayout_Type::Strides => {
                    let strides = args.layout.layout.strides;
                    let list = parts::slice(strides.byte_strides, strides.num_byte_strides);
                    Ok(RawLayout::Strides(list.to_vec()))
                }
                _ => {
                    let tiled = args.layout.layout.tiled;
                    let list = parts::slice(tiled.minor_to_major, tiled.minor_to_major_size);
                    Ok(RawLayout::MinorToMajor(list.to_vec()))
                }
            }
        }
    }

    /// The size in the device's memory in bytes, padding included.
    pub(crate) fn on_device_size(&self) -> Result<usize> {
        let mut args = PJRT_Buffer_OnDeviceSizeInBytes_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive.
        unsafe {
            self.api()
                .call(entry::PJRT_Buffer_OnDeviceSizeInBytes, &mut args)?
        };
        Ok(args.on_device_size_in_bytes)
    }

    /// The index of the memory that holds the buffer.
    pub(crate) fn memory(&self) -> Result<Option<usize>> {
        let mut args = PJRT_Buffer_Memory_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive.
        unsafe { self.api().call(entry::PJRT_Buffer_Memory, &mut args)? };
        Ok(self.session().raw.memory_index(args.memory))
    }

    /// Whether the memory was taken: by a donation, or deleted.
    pub(crate) fn is_deleted(&self) -> Result<bool> {
        let mut args = PJRT_Buffer_IsDeleted_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the handle is alive; asking a consumed one is fine (fact 3).
        unsafe { self.api().call(entry::PJRT_Buffer_IsDeleted, &mut args)? };
        Ok(args.is_deleted)
    }

    /// An event that fires when the buffer holds its values, or with the error
    /// that kept it from them.
    pub(crate) fn ready_event(&self) -> Result<Owned<PJRT_Event>> {
        let mut args = PJRT_Buffer_ReadyEvent_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive; the event is owned before the status counts.
        let (status, event) = unsafe {
            let status = self.api().call(entry::PJRT_Buffer_ReadyEvent, &mut args);
            (status, Owned::adopt(self.session(), args.event))
        };
        status?;
        event.ok_or_else(|| nothing_from("PJRT_Buffer_ReadyEvent"))
    }

    /// Starts a copy to another place.
    pub(crate) fn copy_to(&self, place: Place) -> Result<Owned<PJRT_Buffer>> {
        // SAFETY: the buffer is alive, the place is its client's; what is handed
        // out is owned before the status counts. The runtime keeps the source's
        // memory until the copy is done (fact 10).
        let (status, copy) = unsafe {
            match place {
                Place::Device(index) => {
                    let mut args = PJRT_Buffer_CopyToDevice_Args::zeroed();
                    args.buffer = self.raw();
                    args.dst_device = self.session().raw.device(index);
                    let status = self.api().call(entry::PJRT_Buffer_CopyToDevice, &mut args);
                    (status, Owned::adopt(self.session(), args.dst_buffer))
                }
                Place::Memory(index) => {
                    let mut args = PJRT_Buffer_CopyToMemory_Args::zeroed();
                    args.buffer = self.raw();
                    args.dst_memory = self.session().raw.memory(index);
                    let status = self.api().call(entry::PJRT_Buffer_CopyToMemory, &mut args);
                    (status, Owned::adopt(self.session(), args.dst_buffer))
                }
            }
        };
        status?;
        copy.ok_or_else(|| nothing_from("PJRT_Buffer_CopyToDevice"))
    }

    /// Starts a copy of `count` elements into memory of its own, in the order in
    /// which they lie on the device.
    pub(crate) fn read<T: Plain>(&self, count: usize) -> Result<Read<T>> {
        self.check_host_size(count * size_of::<T>())?;
        let mut values = Vec::<T>::new();
        if values.try_reserve_exact(count).is_err() {
            // A run that could not have so much memory either has failed for that.
            self.ready_event()?.await_blocking()?;
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("the host has no memory for {count} elements"),
            ));
        }
        // SAFETY: room for `count` elements, just checked to be what the plugin
        // writes; `Read` keeps it until the event has fired, also when the call fails.
        let (status, event) =
            unsafe { self.start_read(values.as_mut_ptr().cast(), count * size_of::<T>()) };
        let read = Read {
            values,
            count,
            event,
        };
        status?;
        match read.event {
            Some(_) => Ok(read),
            None => Err(nothing_from("PJRT_Buffer_ToHostBuffer")),
        }
    }

    /// Copies into the caller's memory and waits for it. The length is checked
    /// against what the plugin would write.
    pub(crate) fn read_into<T: Plain>(&self, values: &mut [T]) -> Result<()> {
        let bytes = bytes_mut(values);
        self.check_host_size(bytes.len())?;
        // SAFETY: the bytes are exclusively borrowed until this function returns,
        // and it returns only after the event has fired.
        let (status, event) = unsafe { self.start_read(bytes.as_mut_ptr(), bytes.len()) };
        let Some(event) = event else {
            status?;
            return Err(nothing_from("PJRT_Buffer_ToHostBuffer"));
        };
        match event.await_blocking().and(status) {
            Err(error) if !matches!(event.is_ready(), Ok(true)) => {
                // The wait itself failed, so the copy may be running: there is no
                // sound way to give the memory back.
                eprintln!("xla: waiting for a read failed with the copy pending: {error}");
                std::process::abort();
            }
            outcome => outcome,
        }
    }

    /// Refuses unless the plugin writes exactly `have` bytes: memory safety must
    /// not rest on our arithmetic about another library's layouts.
    fn check_host_size(&self, have: usize) -> Result<()> {
        let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
        args.src = self.raw();
        // SAFETY: with a null destination the call only states the size.
        let (status, _event) = unsafe {
            let status = self.api().call(entry::PJRT_Buffer_ToHostBuffer, &mut args);
            (
                status,
                Owned::<PJRT_Event>::adopt(self.session(), args.event),
            )
        };
        status?;
        if args.dst_size == have {
            return Ok(());
        }
        Err(Error::new(
            Code::Internal,
            format!(
                "the plugin would write {} bytes where the buffer's shape needs {have}",
                args.dst_size
            ),
        ))
    }

    /// A call that fails may have begun to write: its event counts too (fact 22).
    ///
    /// # Safety
    /// `destination` is writable for `size` bytes and nothing else touches it
    /// until the event has fired.
    unsafe fn start_read(
        &self,
        destination: *mut u8,
        size: usize,
    ) -> (Result<()>, Option<Owned<PJRT_Event>>) {
        let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
        args.src = self.raw();
        args.dst = destination.cast();
        args.dst_size = size;
        // SAFETY: the caller answers for the destination; the buffer is alive, and
        // dropping or donating it after the call is fine: the copy was enqueued
        // before (fact 14). No host layout is asked for: 0.81 ignores it (fact 15), so the order is put right by who reads.
        unsafe {
            let status = self.api().call(entry::PJRT_Buffer_ToHostBuffer, &mut args);
            (status, Owned::adopt(self.session(), args.event))
        }
    }
}

/// A copy to the host that may be running: the destination stays until the event
/// has fired, also when this is dropped early.
pub(crate) struct Read<T: Plain> {
    values: Vec<T>,
    count: usize,
    /// `None` once the copy is known to be over.
    event: Option<Owned<PJRT_Event>>,
}

impl<T: Plain> Read<T> {
    /// The event that fires when the copy is done.
    pub(crate) fn event(&self) -> Option<&Owned<PJRT_Event>> {
        self.event.as_ref()
    }

    /// Waits for the copy and gives the values, in the device's order.
    pub(crate) fn finish(mut self) -> Result<Vec<T>> {
        if let Some(event) = self.event.take() {
            let outcome = event.await_blocking();
            if outcome.is_err() && !matches!(event.is_ready(), Ok(true)) {
                // Not over: `Drop` keeps the destination.
                self.event = Some(event);
            }
            outcome?;
        }
        let mut values = std::mem::take(&mut self.values);
        // SAFETY: the capacity is `count`, and the plugin has written all of it:
        // the event fired without error, and the size was checked to be the whole.
        unsafe { values.set_len(self.count) };
        Ok(values)
    }
}

impl<T: Plain> Drop for Read<T> {
    fn drop(&mut self) {
        let Some(event) = self.event.take() else {
            return;
        };
        if matches!(event.is_ready(), Ok(true)) {
            return;
        }
        let values = std::mem::take(&mut self.values);
        let keep = move |notice| match notice {
            Notice::Fired(_) => drop(values),
            // Still being written to: leaked on purpose.
            Notice::Refused(_) => std::mem::forget(values),
        };
        event.on_ready(|_| {}, keep);
    }
}
