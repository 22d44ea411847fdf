//! Buffers that are filled chunk by chunk, and host memory that is mapped.

use std::sync::Arc;

use parking_lot::Mutex;
use pjrt_sys::{
    PJRT_AsyncHostToDeviceTransferManager, PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args,
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args,
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args,
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args,
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args,
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, PJRT_Client_DmaMap_Args,
    PJRT_Client_DmaUnmap_Args,
};

use crate::buffer::Buffer;
use crate::call::Call;
use crate::client::Client;
use crate::event::{Event, Promise};
use crate::failure::{Answer, Failure};
use crate::form::Form;
use crate::registry::{Kind, Object};
use crate::state::EventKind;
use crate::storage::{HostMemory, Storage};
use crate::text::list;
use crate::upload;

/// What a `PJRT_AsyncHostToDeviceTransferManager` stands for.
pub(crate) struct Manager {
    client: Arc<Client>,
    device: usize,
    memory: usize,
    slots: Vec<Arc<Slot>>,
}

impl Object for Manager {
    type Raw = PJRT_AsyncHostToDeviceTransferManager;
    const KIND: Kind = Kind::Transfer;
}

/// A buffer that is to be filled.
struct Slot {
    form: Form,
    storage: Arc<Storage>,
    ready: Arc<Promise>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    retrieved: bool,
    /// Which bytes were sent.
    sent: Vec<bool>,
    under_way: usize,
    /// The last chunk was sent, or an error was set: nothing may follow.
    over: bool,
    failure: Option<Failure>,
}

impl Slot {
    /// The end of the chunks under way makes a complete buffer ready.
    fn settle(&self) {
        let outcome = {
            let progress = self.progress.lock();
            if !progress.over || progress.under_way > 0 {
                return;
            }
            match &progress.failure {
                None => Ok(()),
                Some(failure) => Err(failure.clone()),
            }
        };
        self.ready.resolve(outcome);
    }
}

pub(crate) fn create(
    call: &Call,
    args: &mut PJRT_Client_CreateBuffersForAsyncHostToDevice_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    if args.memory.is_null() {
        return Err(call.breach("the memory is null"));
    }
    let (device, memory) = upload::place(call, &client, std::ptr::null_mut(), args.memory)?;
    // SAFETY: the list has its size beside it.
    let specs = unsafe { list(args.shape_specs, args.num_shape_specs) };
    // SAFETY: as above.
    let layouts = unsafe { list(args.device_layouts, args.num_device_layouts) };
    let mut slots = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let layout = layouts.get(index).copied().unwrap_or(std::ptr::null_mut());
        // SAFETY: lists and layouts are as the header asks.
        let form = unsafe { upload::form(spec.element_type, spec.dims, spec.num_dims, layout)? };
        let size = form.size();
        slots.push(Arc::new(Slot {
            form,
            // What was never written shows.
            storage: Storage::device(call.state(), &vec![0xCD; size]),
            ready: Arc::default(),
            progress: Mutex::new(Progress {
                sent: vec![false; size],
                ..Progress::default()
            }),
        }));
    }
    let id = client.id;
    let manager = Manager {
        client,
        device,
        memory,
        slots,
    };
    args.transfer_manager = call.make(manager, id);
    Ok(())
}

/// A slot by its number.
fn slot(
    call: &Call,
    manager: *const PJRT_AsyncHostToDeviceTransferManager,
    index: i32,
) -> Result<(Arc<Manager>, Arc<Slot>), Failure> {
    let manager = call.get::<Manager>(manager)?;
    let slot = usize::try_from(index)
        .ok()
        .and_then(|index| manager.slots.get(index));
    match slot.cloned() {
        Some(slot) => Ok((manager, slot)),
        None => Err(call.breach(format!("there is no buffer {index}"))),
    }
}

pub(crate) fn retrieve(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args,
) -> Answer {
    let (manager, slot) = slot(call, args.transfer_manager, args.buffer_index)?;
    if std::mem::replace(&mut slot.progress.lock().retrieved, true) {
        return Err(call.breach("the buffer was taken before: there'd be two handles to it"));
    }
    let buffer = Buffer::new(
        Arc::clone(&manager.client),
        slot.form.clone(),
        manager.device,
        manager.memory,
        Arc::clone(&slot.storage),
        Arc::clone(&slot.ready),
    );
    args.buffer_out = call.make(buffer, manager.client.id);
    Ok(())
}

pub(crate) fn count(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args,
) -> Answer {
    args.buffer_count = call.get::<Manager>(args.transfer_manager)?.slots.len();
    Ok(())
}

pub(crate) fn size(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args,
) -> Answer {
    let (_, slot) = slot(call, args.transfer_manager, args.buffer_index)?;
    args.buffer_size = slot.form.size();
    Ok(())
}

pub(crate) fn send(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
) -> Answer {
    let (manager, slot) = slot(call, args.transfer_manager, args.buffer_index)?;
    let (offset, size) = (
        usize::try_from(args.offset),
        usize::try_from(args.transfer_size),
    );
    let range = match (offset, size) {
        (Ok(offset), Ok(size)) if offset + size <= slot.form.size() => offset..offset + size,
        _ => return Err(call.breach("the chunk reaches out of the buffer")),
    };
    if args.data.is_null() && !range.is_empty() {
        return Err(call.breach("the data is null"));
    }
    {
        let mut progress = slot.progress.lock();
        if progress.over {
            drop(progress);
            return Err(call.breach("a chunk behind the last one ends a real plugin's process"));
        }
        let sent = &mut progress.sent[range.clone()];
        if sent.contains(&true) {
            call.breach("the chunk overlaps with one that was sent before");
        }
        sent.fill(true);
        if args.is_last_transfer && progress.sent.contains(&false) {
            call.breach("the last chunk leaves bytes out, which would be anything");
        }
        progress.over = args.is_last_transfer;
        progress.under_way += 1;
    }
    // SAFETY: the header asks for this much memory, to be kept until the event made below fires.
    let chunk = unsafe { HostMemory::new(args.data.cast_mut().cast(), range.len()) };
    let told = Arc::new(Promise::default());
    args.done_with_h2d_transfer = call.make(Event(Arc::clone(&told)), manager.client.id);
    call.state().schedule(EventKind::Chunk, move |outcome| {
        slot.storage.write_at(range.start, &chunk.read());
        {
            let mut progress = slot.progress.lock();
            progress.under_way -= 1;
            if let Err(failure) = &outcome {
                progress.failure = Some(failure.clone());
            }
        }
        slot.settle();
        told.resolve(outcome);
    });
    Ok(())
}

pub(crate) fn set_error(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args,
) -> Answer {
    let (_, slot) = slot(call, args.transfer_manager, args.buffer_index)?;
    // SAFETY: a message has its size beside it.
    let message = unsafe { list(args.error_message.cast::<u8>(), args.error_message_size) };
    let failure = Failure::new(args.error_code, String::from_utf8_lossy(message));
    {
        let mut progress = slot.progress.lock();
        if std::mem::replace(&mut progress.over, true) {
            drop(progress);
            return Err(call.breach(
                "an error behind the last chunk, or a second one, ends a real plugin's process",
            ));
        }
        progress.failure = Some(failure.clone());
    }
    slot.ready.resolve(Err(failure));
    Ok(())
}

/// What isn't complete fails. Chunks under way are finished: a real one waits for them here.
pub(crate) fn destroy(
    call: &Call,
    args: &mut PJRT_AsyncHostToDeviceTransferManager_Destroy_Args,
) -> Answer {
    let manager = call.destroy::<Manager>(args.transfer_manager)?;
    for slot in &manager.slots {
        if !slot.progress.lock().over {
            slot.ready.resolve(Err(Failure::new(
                pjrt_sys::PJRT_Error_Code::INTERNAL,
                "the transfer ended before the buffer was complete",
            )));
        }
    }
    Ok(())
}

pub(crate) fn map(call: &Call, args: &mut PJRT_Client_DmaMap_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    if args.data.is_null() || args.size == 0 {
        return Err(call.breach("there's nothing to map"));
    }
    let added = call.state().map(client.id, args.data as usize, args.size);
    if added {
        Ok(())
    } else {
        Err(call.breach("the memory is mapped already"))
    }
}

pub(crate) fn unmap(call: &Call, args: &mut PJRT_Client_DmaUnmap_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    if call.state().unmap(client.id, args.data as usize) {
        Ok(())
    } else {
        Err(call.breach("the memory isn't mapped"))
    }
}
