//! Buffers that are made first and filled piece by piece
//! (`PJRT_AsyncHostToDeviceTransferManager`).
//!
//! The plugins check little (facts 52 to 55): which chunk is the last is taken from the caller,
//! whatever is missing; a second error for a buffer, or a chunk behind its last, ends the
//! process. `crate::chunked_upload` keeps the account.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_AsyncHostToDeviceTransferManager,
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args,
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args,
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args,
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args, PJRT_Buffer,
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, PJRT_Error_Code, PJRT_Event,
    PJRT_ShapeSpec,
};
use smallvec::SmallVec;

use super::client::nothing_from;
use super::element_type;
use super::host::Plain;
use super::host_values::HostValues;
use super::owned::Owned;
use super::release::release_after;
use crate::client::Session;
use crate::element::ElementType;
use crate::error::{Error, Result};

/// The API minor from which on a manager may be destroyed after it refused a chunk; before,
/// that waits for the chunk for ever (fact 54).
const FORGETS_REFUSED_CHUNKS: i32 = 106;

/// Buffers that are being filled.
pub(crate) struct Transfer {
    /// `None` only while it is dropped.
    manager: Option<Owned<PJRT_AsyncHostToDeviceTransferManager>>,
    refused: AtomicBool,
}

/// A chunk's place: the buffer's number, the offset in bytes, and whether nothing follows.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) buffer: usize,
    pub(crate) offset: usize,
    pub(crate) last: bool,
}

/// A chunk that the plugin did not accept.
pub(crate) struct Refused {
    pub(crate) error: Error,
    /// It may have been taken all the same: nothing may follow if it was the last (fact 52).
    pub(crate) taken: bool,
}

impl Transfer {
    /// Makes the buffers in the memory with this index, in the plugin's usual layouts.
    ///
    /// The caller has checked that the plugin knows the types.
    pub(crate) fn create(
        session: &Arc<Session>,
        shapes: &[(ElementType, SmallVec<[i64; 4]>)],
        memory: usize,
    ) -> Result<Transfer> {
        let mut specs: Vec<PJRT_ShapeSpec> = shapes
            .iter()
            .map(|(element_type, dims)| {
                let mut spec = PJRT_ShapeSpec::zeroed();
                spec.dims = dims.as_ptr();
                spec.num_dims = dims.len();
                spec.element_type = element_type::to_raw(*element_type);
                spec
            })
            .collect();
        let mut args = PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::zeroed();
        args.client = session.raw.raw();
        args.shape_specs = specs.as_mut_ptr();
        args.num_shape_specs = specs.len();
        args.memory = session.raw.memory(memory);
        // SAFETY: the lists outlive the call, which copies them; client and memory are alive.
        // What it hands out is owned before the status counts.
        let (status, manager) = unsafe {
            let name = entry::PJRT_Client_CreateBuffersForAsyncHostToDevice;
            let status = session.api.call(name, &mut args);
            (status, Owned::adopt(session, args.transfer_manager))
        };
        status?;
        let missing = || nothing_from("PJRT_Client_CreateBuffersForAsyncHostToDevice");
        Ok(Transfer {
            manager: Some(manager.ok_or_else(missing)?),
            refused: AtomicBool::new(false),
        })
    }

    fn manager(&self) -> &Owned<PJRT_AsyncHostToDeviceTransferManager> {
        match &self.manager {
            Some(manager) => manager,
            None => unreachable!("the manager is there until it is dropped"),
        }
    }

    /// A handle to a buffer that is to be filled: to be taken once, a second one would alias.
    pub(crate) fn retrieve(&self, buffer: usize) -> Result<Owned<PJRT_Buffer>> {
        let manager = self.manager();
        let mut args = PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args::zeroed();
        args.transfer_manager = manager.raw();
        args.buffer_index = buffer as c_int;
        // SAFETY: the manager is alive; what it hands out is owned before the status counts.
        let (status, raw) = unsafe {
            let name = entry::PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer;
            let status = manager.api().call(name, &mut args);
            (status, Owned::adopt(manager.session(), args.buffer_out))
        };
        status?;
        raw.ok_or_else(|| nothing_from("PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer"))
    }

    /// How many bytes a buffer wants, as they lie on the device.
    pub(crate) fn buffer_size(&self, buffer: usize) -> Result<usize> {
        let manager = self.manager();
        let mut args = PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args::zeroed();
        args.transfer_manager = manager.raw();
        args.buffer_index = buffer as c_int;
        // SAFETY: the manager is alive.
        unsafe {
            manager.api().call(
                entry::PJRT_AsyncHostToDeviceTransferManager_BufferSize,
                &mut args,
            )?;
        }
        Ok(args.buffer_size)
    }

    /// Starts the transfer of a chunk, and keeps the chunk until the event that is given has
    /// fired. `then` runs when it has, perhaps inside the plugin: it must not block.
    ///
    /// The caller has checked that the chunk lies inside the buffer, that it isn't behind the
    /// last, and that the buffer has no error.
    pub(crate) fn send<T: Plain>(
        &self,
        at: At,
        chunk: HostValues<T>,
        then: impl FnOnce() + Send + 'static,
    ) -> Result<Owned<PJRT_Event>, Refused> {
        // SAFETY: the chunk is kept below until the event has fired, and only read meanwhile.
        let (status, done) =
            unsafe { self.start(at, chunk.as_ptr().cast(), size_of_val(&chunk[..])) };
        match (status, done) {
            (Ok(()), Some(done)) => {
                release_after(&done, chunk, then);
                Ok(done)
            }
            (Err(error), Some(done)) => {
                // It may have begun to read.
                release_after(&done, chunk, || {});
                Err(Refused { error, taken: true })
            }
            (Ok(()), None) => {
                // Not promised to be free of use: kept for ever.
                std::mem::forget(chunk);
                let error = nothing_from("PJRT_AsyncHostToDeviceTransferManager_TransferData");
                Err(Refused { error, taken: true })
            }
            (Err(error), None) => Err(Refused {
                error,
                taken: false,
            }),
        }
    }

    /// As [`send`](Self::send), of borrowed memory; waits for the transfer, and gives its
    /// outcome.
    pub(crate) fn send_borrowed(&self, at: At, chunk: &[u8]) -> Result<Result<()>, Refused> {
        // SAFETY: the chunk is borrowed until this function returns, and it returns only after
        // the event has fired.
        let (status, done) = unsafe { self.start(at, chunk.as_ptr(), chunk.len()) };
        let outcome = match (&done, &status) {
            (Some(done), _) => {
                let outcome = done.await_blocking();
                if outcome.is_err() && !matches!(done.is_ready(), Ok(true)) {
                    eprintln!("xla: waiting for a transfer failed with it pending");
                    std::process::abort();
                }
                outcome
            }
            (None, Err(_)) => Ok(()),
            (None, Ok(())) => {
                // Not known to be free of use, and borrowed: there is no sound way on.
                eprintln!("xla: the plugin borrowed a chunk without saying until when");
                std::process::abort();
            }
        };
        match status {
            Ok(()) => Ok(outcome),
            Err(error) => Err(Refused {
                error,
                taken: done.is_some(),
            }),
        }
    }

    /// # Safety
    /// `data` points to `size` bytes, which stay and aren't written to until the event has
    /// fired.
    unsafe fn start(
        &self,
        at: At,
        data: *const u8,
        size: usize,
    ) -> (Result<()>, Option<Owned<PJRT_Event>>) {
        let manager = self.manager();
        let mut args = PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::zeroed();
        args.transfer_manager = manager.raw();
        args.buffer_index = at.buffer as c_int;
        args.data = data.cast();
        // Sizes of memory that there is, and offsets inside a shape: they fit.
        args.offset = at.offset as i64;
        args.transfer_size = size as i64;
        args.is_last_transfer = at.last;
        // SAFETY: the manager is alive, the caller answers for the data; the event is owned
        // before the status counts.
        let (status, done) = unsafe {
            let name = entry::PJRT_AsyncHostToDeviceTransferManager_TransferData;
            let status = manager.api().call(name, &mut args);
            let done = Owned::adopt(manager.session(), args.done_with_h2d_transfer);
            (status, done)
        };
        if status.is_err() {
            self.refused.store(true, Ordering::Relaxed);
        }
        (status, done)
    }

    /// Has whoever waits for a buffer fail with this message.
    ///
    /// The caller has checked that the buffer isn't complete and has no error yet.
    pub(crate) fn fail(&self, buffer: usize, message: &str) -> Result<()> {
        let manager = self.manager();
        let mut args = PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args::zeroed();
        args.transfer_manager = manager.raw();
        args.buffer_index = buffer as c_int;
        args.error_code = PJRT_Error_Code::CANCELLED;
        args.error_message = message.as_ptr().cast();
        args.error_message_size = message.len();
        // SAFETY: the manager is alive; the message outlives the call, which copies it.
        unsafe {
            manager.api().call(
                entry::PJRT_AsyncHostToDeviceTransferManager_SetBufferError,
                &mut args,
            )
        }
    }
}

impl Drop for Transfer {
    /// Destroying the manager waits for the chunks under way, and fails the buffers that aren't
    /// complete.
    fn drop(&mut self) {
        let Some(manager) = self.manager.take() else {
            return;
        };
        let (_, minor) = manager.api().version();
        if *self.refused.get_mut() && minor < FORGETS_REFUSED_CHUNKS {
            // It would wait for ever: leaked on purpose, with the client.
            std::mem::forget(manager);
        }
    }
}
