//! Buffers: described, read, copied, deleted.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use parking_lot::Mutex;
use pjrt_sys::{
    Args, PJRT_Buffer, PJRT_Buffer_CopyRawToHost_Args, PJRT_Buffer_CopyToDevice_Args,
    PJRT_Buffer_CopyToMemory_Args, PJRT_Buffer_DecreaseExternalReferenceCount_Args,
    PJRT_Buffer_Delete_Args, PJRT_Buffer_Destroy_Args, PJRT_Buffer_Device_Args,
    PJRT_Buffer_Dimensions_Args, PJRT_Buffer_ElementType_Args, PJRT_Buffer_GetMemoryLayout_Args,
    PJRT_Buffer_IncreaseExternalReferenceCount_Args, PJRT_Buffer_IsDeleted_Args,
    PJRT_Buffer_IsOnCpu_Args, PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Tiled,
    PJRT_Buffer_MemoryLayout_Type, PJRT_Buffer_Memory_Args, PJRT_Buffer_OnDeviceSizeInBytes_Args,
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args, PJRT_Buffer_UnsafePointer_Args, PJRT_Event,
};

use crate::call::Call;
use crate::client::{Client, DeviceHandle};
use crate::event::{Event, Promise};
use crate::failure::{Answer, Failure};
use crate::form::Form;
use crate::registry::{Kind, Object};
use crate::state::EventKind;
use crate::storage::{HostMemory, Storage};
use crate::upload;

/// What a `PJRT_Buffer` stands for.
pub(crate) struct Buffer {
    pub(crate) client: Arc<Client>,
    pub(crate) form: Form,
    pub(crate) device: usize,
    memory: usize,
    content: Mutex<Content>,
    pub(crate) ready: Arc<Promise>,
}

struct Content {
    /// Nothing once it's deleted or donated.
    storage: Option<Arc<Storage>>,
    /// External references, which keep it from being donated.
    holds: usize,
}

impl Object for Buffer {
    type Raw = PJRT_Buffer;
    const KIND: Kind = Kind::Buffer;
}

impl Buffer {
    pub(crate) fn new(
        client: Arc<Client>,
        form: Form,
        device: usize,
        memory: usize,
        storage: Arc<Storage>,
        ready: Arc<Promise>,
    ) -> Buffer {
        let content = Content {
            storage: Some(storage),
            holds: 0,
        };
        Buffer {
            client,
            form,
            device,
            memory,
            content: Mutex::new(content),
            ready,
        }
    }

    pub(crate) fn storage(&self) -> Option<Arc<Storage>> {
        self.content.lock().storage.clone()
    }

    pub(crate) fn is_held(&self) -> bool {
        self.content.lock().holds > 0
    }

    /// Takes the memory away: the buffer counts as deleted.
    pub(crate) fn consume(&self) -> Option<Arc<Storage>> {
        // Not dropped here: the lock is held.
        self.content.lock().storage.take()
    }

    /// The memory, or the error of a use that came too late.
    fn there(&self, doing: &str) -> Result<Arc<Storage>, Failure> {
        self.storage().ok_or_else(|| {
            Failure::invalid(format!("{doing} of a buffer that was deleted or donated"))
        })
    }
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_Buffer_Destroy_Args) -> Answer {
    call.destroy::<Buffer>(args.buffer).map(drop)
}

pub(crate) fn delete(call: &Call, args: &mut PJRT_Buffer_Delete_Args) -> Answer {
    let storage = call.get::<Buffer>(args.buffer)?.consume();
    drop(storage);
    Ok(())
}

pub(crate) fn is_deleted(call: &Call, args: &mut PJRT_Buffer_IsDeleted_Args) -> Answer {
    args.is_deleted = call.get::<Buffer>(args.buffer)?.storage().is_none();
    Ok(())
}

pub(crate) fn element_type(call: &Call, args: &mut PJRT_Buffer_ElementType_Args) -> Answer {
    args.type_ = call.get::<Buffer>(args.buffer)?.form.element.raw;
    Ok(())
}

pub(crate) fn dimensions(call: &Call, args: &mut PJRT_Buffer_Dimensions_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    (args.dims, args.num_dims) = (buffer.form.dims.as_ptr(), buffer.form.dims.len());
    Ok(())
}

pub(crate) fn layout(call: &Call, args: &mut PJRT_Buffer_GetMemoryLayout_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::zeroed();
    tiled.minor_to_major = buffer.form.minor_to_major.as_ptr();
    tiled.minor_to_major_size = buffer.form.minor_to_major.len();
    args.layout = PJRT_Buffer_MemoryLayout::zeroed();
    args.layout.type_ = PJRT_Buffer_MemoryLayout_Type::Tiled;
    args.layout.layout.tiled = tiled;
    Ok(())
}

pub(crate) fn on_device_size(
    call: &Call,
    args: &mut PJRT_Buffer_OnDeviceSizeInBytes_Args,
) -> Answer {
    args.on_device_size_in_bytes = call.get::<Buffer>(args.buffer)?.form.size();
    Ok(())
}

pub(crate) fn device(call: &Call, args: &mut PJRT_Buffer_Device_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    args.device = buffer.client.device_handles[buffer.device];
    Ok(())
}

pub(crate) fn memory(call: &Call, args: &mut PJRT_Buffer_Memory_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    args.memory = buffer.client.memory_handles[buffer.memory];
    Ok(())
}

pub(crate) fn is_on_cpu(call: &Call, args: &mut PJRT_Buffer_IsOnCpu_Args) -> Answer {
    call.get::<Buffer>(args.buffer)?;
    args.is_on_cpu = true;
    Ok(())
}

pub(crate) fn unsafe_pointer(call: &Call, args: &mut PJRT_Buffer_UnsafePointer_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    args.buffer_pointer = buffer.there("the address")?.address();
    Ok(())
}

pub(crate) fn opaque_pointer(
    call: &Call,
    args: &mut PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args,
) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    if !buffer.is_held() {
        return Err(call.breach("the pointer is asked for without an external reference"));
    }
    let address = buffer.there("the address")?.address();
    args.device_memory_ptr = address as *mut std::ffi::c_void;
    Ok(())
}

pub(crate) fn hold(
    call: &Call,
    args: &mut PJRT_Buffer_IncreaseExternalReferenceCount_Args,
) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    buffer.there("an external reference")?;
    buffer.content.lock().holds += 1;
    Ok(())
}

pub(crate) fn release(
    call: &Call,
    args: &mut PJRT_Buffer_DecreaseExternalReferenceCount_Args,
) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    let mut content = buffer.content.lock();
    match content.holds.checked_sub(1) {
        Some(left) => content.holds = left,
        None => return Err(call.breach("there's no external reference to give back")),
    }
    Ok(())
}

pub(crate) fn ready_event(call: &Call, args: &mut PJRT_Buffer_ReadyEvent_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    let promise = match buffer.there("the ready event") {
        Ok(_) => Arc::clone(&buffer.ready),
        Err(failure) => Promise::ended(Err(failure)),
    };
    args.event = call.make(Event(promise), buffer.client.id);
    Ok(())
}

pub(crate) fn to_host(call: &Call, args: &mut PJRT_Buffer_ToHostBuffer_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.src)?;
    if !args.host_layout.is_null() {
        return Err(Failure::new(
            pjrt_sys::PJRT_Error_Code::UNIMPLEMENTED,
            "this fake gives no other order than the device's",
        ));
    }
    let size = buffer.form.size();
    if args.dst.is_null() {
        args.dst_size = size;
        return Ok(());
    }
    if args.dst_size < size {
        return Err(call.breach(format!("{} bytes of room for {size}", args.dst_size)));
    }
    // SAFETY: the header asks for this much room, the caller's to keep until the event has fired.
    let destination = unsafe { HostMemory::new(args.dst.cast(), size) };
    args.event = read(call, &buffer, 0..size, destination);
    Ok(())
}

pub(crate) fn raw_to_host(call: &Call, args: &mut PJRT_Buffer_CopyRawToHost_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    let whole = buffer.form.size();
    let (offset, size) = (args.offset, args.transfer_size);
    let range = match (usize::try_from(offset), usize::try_from(size)) {
        (Ok(offset), Ok(size)) if offset + size <= whole => offset..offset + size,
        _ => {
            // As the real one: the call is fine, the event is not.
            let failure = format!("{size} bytes at {offset} of a buffer of {whole}");
            let done = Promise::ended(Err(Failure::invalid(failure)));
            args.event = call.make(Event(done), buffer.client.id);
            return Ok(());
        }
    };
    if args.dst.is_null() && !range.is_empty() {
        return Err(call.breach("the destination is null"));
    }
    // SAFETY: the header asks for this much room, the caller's to keep until the event has fired.
    let destination = unsafe { HostMemory::new(args.dst.cast(), range.len()) };
    args.event = read(call, &buffer, range, destination);
    Ok(())
}

/// Copies some bytes to the host when the buffer is ready; the event that tells.
fn read(
    call: &Call,
    buffer: &Buffer,
    range: std::ops::Range<usize>,
    destination: HostMemory,
) -> *mut PJRT_Event {
    let done = Arc::new(Promise::default());
    let event = call.make(Event(Arc::clone(&done)), buffer.client.id);
    let storage = match buffer.there("a copy to the host") {
        Ok(storage) => storage,
        Err(failure) => {
            // As the real one: the call is fine, the event is not.
            done.resolve(Err(failure));
            return event;
        }
    };
    let (state, client) = (Arc::clone(call.state()), Arc::clone(&buffer.client));
    client.reads.fetch_add(1, Ordering::SeqCst);
    buffer.ready.then(move |outcome| {
        // The values of now: what is donated later can't change them.
        let bytes = outcome.map(|()| storage.read()[range].to_vec());
        state.schedule(EventKind::Read, move |outcome| {
            let outcome = outcome.and(bytes).map(|bytes| destination.write(&bytes));
            // The caller's memory isn't read any more, if it's that.
            drop(storage);
            client.reads.fetch_sub(1, Ordering::SeqCst);
            done.resolve(outcome);
        });
    });
    event
}

pub(crate) fn to_device(call: &Call, args: &mut PJRT_Buffer_CopyToDevice_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    let target = call.get::<DeviceHandle>(args.dst_device)?;
    if Arc::ptr_eq(&target.client, &buffer.client) && target.index == buffer.device {
        return Err(Failure::invalid("a copy to the buffer's own device"));
    }
    let place = upload::place(call, &buffer.client, args.dst_device, std::ptr::null_mut())?;
    args.dst_buffer = copy(call, &buffer, place)?;
    Ok(())
}

pub(crate) fn to_memory(call: &Call, args: &mut PJRT_Buffer_CopyToMemory_Args) -> Answer {
    let buffer = call.get::<Buffer>(args.buffer)?;
    if args.dst_memory.is_null() {
        return Err(call.breach("the memory is null"));
    }
    let place = upload::place(call, &buffer.client, std::ptr::null_mut(), args.dst_memory)?;
    args.dst_buffer = copy(call, &buffer, place)?;
    Ok(())
}

fn copy(call: &Call, buffer: &Buffer, place: (usize, usize)) -> Result<*mut PJRT_Buffer, Failure> {
    let source = buffer.there("a copy")?;
    let state = Arc::clone(call.state());
    let target = Storage::device(&state, &vec![0; buffer.form.size()]);
    let ready = Arc::new(Promise::default());
    let (into, told) = (Arc::clone(&target), Arc::clone(&ready));
    buffer.ready.then(move |outcome| {
        if outcome.is_ok() {
            into.write(&source.read());
        }
        state.schedule(EventKind::Copy, move |copied| {
            drop(source);
            told.resolve(outcome.and(copied));
        });
    });
    let (client, form) = (Arc::clone(&buffer.client), buffer.form.clone());
    let id = client.id;
    Ok(call.make(
        Buffer::new(client, form, place.0, place.1, target, ready),
        id,
    ))
}
