//! Buffers made from host memory, or from nothing.

use std::sync::Arc;

use pjrt_sys::{
    PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Type, PJRT_Buffer_Type,
    PJRT_Client_BufferFromHostBuffer_Args, PJRT_Client_CreateErrorBuffer_Args,
    PJRT_Client_CreateUninitializedBuffer_Args, PJRT_Device, PJRT_HostBufferSemantics, PJRT_Memory,
};

use crate::buffer::Buffer;
use crate::call::Call;
use crate::client::{Client, DeviceHandle, MemoryHandle};
use crate::event::{Event, Promise};
use crate::failure::{Answer, Failure};
use crate::form::{Element, Form};
use crate::state::EventKind;
use crate::storage::{HostMemory, Storage};
use crate::text::list;

/// Host memory is used in place if its address is a multiple of this.
const ALIGNMENT: usize = 64;

/// Where a buffer goes: a memory, and the device that it's counted to.
pub(crate) fn place(
    call: &Call,
    client: &Arc<Client>,
    device: *mut PJRT_Device,
    memory: *mut PJRT_Memory,
) -> Result<(usize, usize), Failure> {
    let (theirs, device, memory) = if memory.is_null() {
        let device = call.get::<DeviceHandle>(device)?;
        if !client.devices[device.index.min(client.devices.len() - 1)].is_addressable() {
            return Err(call.breach("the device belongs to another process"));
        }
        (Arc::clone(&device.client), device.index, device.index)
    } else {
        let memory = call.get::<MemoryHandle>(memory)?;
        // The host's memory is counted to the first device.
        let device = if memory.index + 1 == memory.client.memories.len() {
            0
        } else {
            memory.index
        };
        (Arc::clone(&memory.client), device, memory.index)
    };
    if Arc::ptr_eq(client, &theirs) {
        Ok((device, memory))
    } else {
        Err(call.breach("the place belongs to another client"))
    }
}

/// The array that a caller describes.
///
/// # Safety
/// `dims` points to `rank` numbers; `layout` is null or points to a layout that is alive.
pub(crate) unsafe fn form(
    type_: PJRT_Buffer_Type,
    dims: *const i64,
    rank: usize,
    layout: *const PJRT_Buffer_MemoryLayout,
) -> Result<Form, Failure> {
    let element = Element::of(type_)
        .ok_or_else(|| Failure::invalid(format!("{type_:?} can't be put into a buffer")))?;
    // SAFETY: the caller's promise.
    let dims = unsafe { list(dims, rank) };
    // SAFETY: the caller's promise.
    let order = match unsafe { layout.as_ref() } {
        None => None,
        Some(layout) if layout.type_ == PJRT_Buffer_MemoryLayout_Type::Tiled => {
            // SAFETY: the type says which member holds.
            let tiled = unsafe { layout.layout.tiled };
            // SAFETY: a layout's list has its size beside it.
            Some(unsafe { list(tiled.minor_to_major, tiled.minor_to_major_size) })
        }
        Some(_) => return Err(Failure::invalid("layouts by strides aren't taken")),
    };
    Form::new(element, dims, order)
        .ok_or_else(|| Failure::invalid(format!("{dims:?} in the order {order:?} is no array")))
}

pub(crate) fn from_host(call: &Call, args: &mut PJRT_Client_BufferFromHostBuffer_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    let (device, memory) = place(call, &client, args.device, args.memory)?;
    // SAFETY: the lists and the layout are as the header asks.
    let form = unsafe { form(args.type_, args.dims, args.num_dims, args.device_layout)? };
    // SAFETY: strides have their number beside them.
    let strides = unsafe { list(args.byte_strides, args.num_byte_strides) };
    let strides = match strides.len() {
        0 => form.row_major_strides(),
        rank if rank == form.dims.len() => strides.to_vec(),
        rank => return Err(call.breach(format!("{rank} strides for {:?}", form.dims))),
    };
    if strides.iter().any(|stride| *stride < 0) {
        return Err(Failure::invalid("negative strides aren't taken"));
    }
    if args.data.is_null() && form.size() > 0 {
        return Err(call.breach("the data is null"));
    }
    // SAFETY: the header asks for this much memory, to be kept as the semantics say; the event made
    // below tells when it's over.
    let host = unsafe { HostMemory::new(args.data.cast_mut().cast(), span(&form, &strides)) };

    let state = call.state();
    let done = Arc::new(Promise::default());
    let ready = Arc::new(Promise::default());
    let dense = strides == form.row_major_strides() && form.is_row_major();
    let in_place = dense && (args.data as usize) % ALIGNMENT == 0 && form.size() > 0;
    let finish = |ready: Arc<Promise>| {
        let state = Arc::clone(state);
        move |_| state.schedule(EventKind::Upload, move |outcome| ready.resolve(outcome))
    };
    let storage = match args.host_buffer_semantics {
        PJRT_HostBufferSemantics::ImmutableUntilTransferCompletes => {
            let storage = Storage::device(state, &vec![0; form.size()]);
            let (into, of) = (Arc::clone(&storage), form.clone());
            let (told, then) = (Arc::clone(&done), finish(Arc::clone(&ready)));
            state.schedule(EventKind::HostDone, move |outcome| {
                if let Some(bytes) = of.gather(&host.read(), &strides) {
                    into.write(&bytes);
                }
                told.resolve(outcome);
                then(());
            });
            storage
        }
        PJRT_HostBufferSemantics::ImmutableZeroCopy if in_place => {
            finish(Arc::clone(&ready))(());
            Storage::host(state, host, false, Arc::clone(&done))
        }
        PJRT_HostBufferSemantics::MutableZeroCopy if in_place => {
            finish(Arc::clone(&ready))(());
            Storage::host(state, host, true, Arc::clone(&done))
        }
        _ => {
            let bytes = form
                .gather(&host.read(), &strides)
                .ok_or_else(|| Failure::invalid("the strides lead out of the data"))?;
            let told = Arc::clone(&done);
            state.schedule(EventKind::HostDone, move |outcome| told.resolve(outcome));
            finish(Arc::clone(&ready))(());
            Storage::device(state, &bytes)
        }
    };
    let id = client.id;
    let buffer = Buffer::new(client, form, device, memory, storage, ready);
    args.buffer = call.make(buffer, id);
    args.done_with_host_buffer = call.make(Event(done), id);
    Ok(())
}

/// How many bytes lie between the first of an array and behind its last.
fn span(form: &Form, strides: &[i64]) -> usize {
    if form.count() == 0 {
        return 0;
    }
    let last: i64 = form
        .dims
        .iter()
        .zip(strides)
        .map(|(dim, by)| (dim - 1) * by)
        .sum();
    usize::try_from(last).unwrap_or(0) + form.element.size
}

/// Made of bytes that are 0xCD each.
pub(crate) fn uninitialized(
    call: &Call,
    args: &mut PJRT_Client_CreateUninitializedBuffer_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    let (device, memory) = place(call, &client, args.device, args.memory)?;
    let (type_, dims, rank) = (
        args.shape_element_type,
        args.shape_dims,
        args.shape_num_dims,
    );
    // SAFETY: the lists and the layout are as the header asks.
    let form = unsafe { form(type_, dims, rank, args.shape_layout)? };
    let storage = Storage::device(call.state(), &vec![0xCD; form.size()]);
    let ready = Arc::new(Promise::default());
    let told = Arc::clone(&ready);
    call.state()
        .schedule(EventKind::Upload, move |outcome| told.resolve(outcome));
    let id = client.id;
    args.buffer = call.make(
        Buffer::new(client, form, device, memory, storage, ready),
        id,
    );
    Ok(())
}

pub(crate) fn error(call: &Call, args: &mut PJRT_Client_CreateErrorBuffer_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    let (device, memory) = place(call, &client, std::ptr::null_mut(), args.memory)?;
    let (type_, dims, rank) = (
        args.shape_element_type,
        args.shape_dims,
        args.shape_num_dims,
    );
    // SAFETY: the lists and the layout are as the header asks.
    let form = unsafe { form(type_, dims, rank, args.shape_layout)? };
    // SAFETY: a message has its size beside it.
    let message = unsafe { list(args.error_message.cast::<u8>(), args.error_message_size) };
    let failure = Failure::new(args.error_code, String::from_utf8_lossy(message));
    let storage = Storage::device(call.state(), &vec![0; form.size()]);
    let ready = Promise::ended(Err(failure));
    let id = client.id;
    args.buffer = call.make(
        Buffer::new(client, form, device, memory, storage, ready),
        id,
    );
    Ok(())
}
