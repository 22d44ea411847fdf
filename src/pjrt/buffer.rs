//! Buffers: made from host memory, copied, described. Reading is in `read.rs`.

use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Buffer_CopyToDevice_Args, PJRT_Buffer_CopyToMemory_Args,
    PJRT_Buffer_GetMemoryLayout_Args, PJRT_Buffer_IsDeleted_Args, PJRT_Buffer_MemoryLayout,
    PJRT_Buffer_MemoryLayout_Tiled, PJRT_Buffer_MemoryLayout_Type, PJRT_Buffer_Memory_Args,
    PJRT_Buffer_OnDeviceSizeInBytes_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Client_BufferFromHostBuffer_Args, PJRT_Event, PJRT_HostBufferSemantics,
};

use super::client::nothing_from;
use super::element_type;
use super::owned::Owned;
use super::parts;
use crate::client::Session;
use crate::element::ElementType;
use crate::error::{Error, Result};

/// Where a new buffer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
/// has as many dimensions. On failure the session comes back.
pub(crate) fn from_host(
    session: Arc<Session>,
    data: &[u8],
    element_type: ElementType,
    dims: &[usize],
    minor_to_major: Option<&[i64]>,
    place: Place,
) -> std::result::Result<Owned<PJRT_Buffer>, (Error, Arc<Session>)> {
    let semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
    // SAFETY: with these semantics nothing is kept after the call.
    let (buffer, _) = unsafe {
        host_buffer(
            &session,
            data.as_ptr(),
            element_type,
            dims,
            minor_to_major,
            place,
            semantics,
        )
    };
    match buffer.map(Owned::into_raw) {
        // SAFETY: just let go of, and made by this session.
        Ok(raw) => Ok(unsafe { Owned::adopt_by(session, raw) }),
        Err(error) => Err((error, session)),
    }
}

/// A new buffer, and what tells that its host memory is no longer used: neither holds the session
/// so far.
pub(super) type Made<'s> = (
    Result<Owned<PJRT_Buffer, &'s Arc<Session>>>,
    Option<Owned<PJRT_Event, &'s Arc<Session>>>,
);

/// Makes a buffer of host memory (`PJRT_Client_BufferFromHostBuffer`). The event, if there
/// is one, fires when the memory is no longer used; there can be one on failure too.
///
/// # Safety
/// `data` points to as many bytes as type and dims need. They stay, and are written to by
/// nobody but XLA, as long as `semantics` ask; it may write only where they say so.
pub(super) unsafe fn host_buffer<'s>(
    session: &'s Arc<Session>,
    data: *const u8,
    element_type: ElementType,
    dims: &[usize],
    minor_to_major: Option<&[i64]>,
    place: Place,
    semantics: PJRT_HostBufferSemantics,
) -> Made<'s> {
    let client = &session.raw;
    let mut args = PJRT_Client_BufferFromHostBuffer_Args::zeroed();
    args.client = client.raw();
    args.data = data.cast();
    args.type_ = element_type::to_raw(element_type);
    // Of one size, and each was checked to fit when the shape was made.
    const { assert!(size_of::<usize>() == size_of::<i64>()) };
    args.dims = dims.as_ptr().cast();
    args.num_dims = dims.len();
    args.host_buffer_semantics = semantics;
    match place {
        Place::Device(index) => args.device = client.device(index),
        Place::Memory(index) => args.memory = client.memory(index),
    }
    let mut layout;
    if let Some(order) = minor_to_major {
        let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::zeroed();
        tiled.minor_to_major = order.as_ptr();
        tiled.minor_to_major_size = order.len();
        layout = PJRT_Buffer_MemoryLayout::zeroed();
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
        let buffer = Owned::adopt(&session, args.buffer);
        let done = Owned::adopt(&session, args.done_with_host_buffer);
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
}
