//! Host memory that a device shares instead of copying it, and device memory that the
//! host looks at.
//!
//! The runtime orders device memory, not host memory: only the done event says that XLA
//! has finished with shared memory, and it fires after the last use of the *storage*, an
//! output that took it over by donation included (fact 13). So owned memory is released
//! by the event's callback, and borrowed memory is waited for.

use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Buffer_Delete_Args, PJRT_Buffer_IsOnCpu_Args,
    PJRT_Buffer_UnsafePointer_Args, PJRT_Event, PJRT_HostBufferSemantics,
};

use super::aligned::HostVec;
use super::api::Api;
use super::buffer::{host_buffer, Place};
use super::client::nothing_from;
use super::host::Plain;
use super::host_values::HostValues;
use super::owned::Owned;
use super::release::release_after;
use super::seen::Seen;
use crate::client::Session;
use crate::element::ElementType;
use crate::error::{Error, Result};

/// Makes a buffer of owned memory, which stays until XLA has finished with it. On failure
/// the memory comes back, and the session.
///
/// The caller has checked that `values` is as long as type and dims need.
pub(crate) fn from_owned<T: Plain>(
    session: Arc<Session>,
    mut values: HostVec<T>,
    element_type: ElementType,
    dims: &[usize],
    place: Place,
) -> std::result::Result<Owned<PJRT_Buffer>, (Error, HostVec<T>, Arc<Session>)> {
    // The memory is owned, so XLA may write to it: a donated input's storage becomes an
    // output's.
    let semantics = PJRT_HostBufferSemantics::MutableZeroCopy;
    // SAFETY: `values` is kept below until the done event has fired, and nobody else can
    // reach it.
    let (status, done) = unsafe {
        host_buffer(
            &session,
            values.as_mut_ptr().cast(),
            element_type,
            dims,
            None,
            place,
            semantics,
        )
    };
    let failure = match status.map(Owned::into_raw) {
        Ok(raw) => {
            match &done {
                Some(done) => release_after(done, values, || {}),
                // Not promised to be free of use: kept for ever.
                None => std::mem::forget(values),
            }
            drop(done);
            // SAFETY: just let go of, and made by this session.
            return Ok(unsafe { Owned::adopt_by(session, raw) });
        }
        Err(error) => error,
    };
    // A failure may have begun to read.
    let is_used = |done: &Owned<PJRT_Event, _>| {
        done.await_firing().is_err() && !matches!(done.is_ready(), Ok(true))
    };
    if done.as_ref().is_some_and(is_used) {
        std::mem::forget(values);
        values = HostVec::zeroed(0);
    }
    drop(done);
    Err((failure, values, session))
}

/// A buffer that is being filled, and the event that tells when its source is no longer used.
type Started = (Owned<PJRT_Buffer>, Owned<PJRT_Event>);

/// Starts a copy of owned memory into a new buffer (`kImmutableUntilTransferCompletes`), and
/// keeps the memory until the event that is given has fired. On failure the session comes back.
///
/// The caller has checked that `values` is as long as type and dims need.
pub(crate) fn from_kept<T: Plain>(
    session: Arc<Session>,
    values: HostValues<T>,
    element_type: ElementType,
    dims: &[usize],
    place: Place,
) -> std::result::Result<Started, (Error, Arc<Session>)> {
    let semantics = PJRT_HostBufferSemantics::ImmutableUntilTransferCompletes;
    // SAFETY: `values` is kept below until the done event has fired, and only read meanwhile.
    let (status, done) = unsafe {
        host_buffer(
            &session,
            values.as_ptr().cast(),
            element_type,
            dims,
            None,
            place,
            semantics,
        )
    };
    match &done {
        // On failure too: it may have begun to read.
        Some(done) => match done.is_ready() {
            // Copied inside the call: nobody need call back.
            Ok(true) => drop(values),
            _ => release_after(done, values, || {}),
        },
        // Not promised to be free of use: kept for ever.
        None if status.is_ok() => std::mem::forget(values),
        None => drop(values),
    }
    let done = done.map(Owned::holding);
    // SAFETY: just let go of, and made by this session.
    let made = |raw, session| unsafe { Owned::adopt_by(session, raw) };
    match (status.map(Owned::into_raw), done) {
        (Ok(raw), Some(done)) => Ok((made(raw, session), done)),
        (Ok(raw), None) => {
            drop(made(raw, Arc::clone(&session)));
            let missing = nothing_from("PJRT_Client_BufferFromHostBuffer");
            Err((missing, session))
        }
        (Err(error), _) => Err((error, session)),
    }
}

/// A buffer of borrowed memory, and the event that says when XLA has finished with it.
/// Dropping it blocks until then.
pub(super) struct Borrowed {
    done: Option<Owned<PJRT_Event, Api>>,
}

/// Makes a buffer of borrowed memory.
///
/// # Safety
/// The result is dropped, after the buffer's handle, before the borrow of `values` ends and
/// before the session's last holder goes: it must not be leaked, and holds no session.
#[inline]
pub(super) unsafe fn from_borrowed<'s, T: Plain>(
    session: &'s Arc<Session>,
    values: &[T],
    element_type: ElementType,
    dims: &[usize],
    place: Place,
) -> Result<(Owned<PJRT_Buffer, &'s Arc<Session>>, Borrowed)> {
    let semantics = PJRT_HostBufferSemantics::ImmutableZeroCopy;
    // SAFETY: the caller's promise: the memory outlives `Borrowed`, which waits.
    let (status, done) = unsafe {
        host_buffer(
            session,
            values.as_ptr().cast(),
            element_type,
            dims,
            None,
            place,
            semantics,
        )
    };
    let told = done.is_some();
    // SAFETY: the caller's promise: the session outlives `Borrowed`.
    let done = done.map(|done| unsafe { done.unheld() });
    let borrowed = Borrowed { done };
    let buffer = status?;
    if told {
        return Ok((buffer, borrowed));
    }
    // Nobody will tell when the memory is free of use: no such plugin is known, and there
    // is no sound way on.
    eprintln!("xla: the plugin borrowed host memory without saying until when");
    std::process::abort();
}

impl Drop for Borrowed {
    #[inline]
    fn drop(&mut self) {
        let Some(done) = &self.done else {
            return;
        };
        if done.await_firing().is_err() && !matches!(done.is_ready(), Ok(true)) {
            // The wait itself failed: returning would end the borrow under XLA's eyes.
            eprintln!("xla: waiting for the end of a borrow failed");
            std::process::abort();
        }
    }
}

impl Owned<PJRT_Buffer> {
    /// Has the memory released when runs in flight have finished with it, where destroying the
    /// handle can't do that: by a plugin that has no entry for it (`PJRT_Buffer_Delete`).
    pub(super) fn release_if_indestructible(&self) {
        if self.api().has(entry::PJRT_Buffer_Destroy) {
            return;
        }
        let mut args = PJRT_Buffer_Delete_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive.
        let _ = unsafe { self.api().call(entry::PJRT_Buffer_Delete, &mut args) };
    }

    /// Whether the buffer's memory can be read by the host.
    pub(crate) fn is_on_cpu(&self) -> Result<bool> {
        let mut args = PJRT_Buffer_IsOnCpu_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive.
        unsafe { self.api().call(entry::PJRT_Buffer_IsOnCpu, &mut args)? };
        Ok(args.is_on_cpu)
    }

    /// Where the buffer's memory starts.
    pub(crate) fn address(&self) -> Result<usize> {
        let mut args = PJRT_Buffer_UnsafePointer_Args::zeroed();
        args.buffer = self.raw();
        // SAFETY: the buffer is alive; the answer is a number.
        unsafe {
            self.api()
                .call(entry::PJRT_Buffer_UnsafePointer, &mut args)?
        };
        Ok(args.buffer_pointer)
    }

    /// The memory of a buffer that is ready, of `count` elements of a byte or more. `None` where
    /// the host can't look at it, or they don't lie there densely. `seen` is that of the buffer's
    /// shape and order.
    ///
    /// The caller has waited for the values. The slice borrows the buffer, so it can't be given
    /// or dropped meanwhile, and nothing writes to what is only lent.
    pub(crate) fn host_slice<T: Plain>(&self, count: usize, seen: &Seen) -> Result<Option<&[T]>> {
        if count == 0 {
            return Ok(Some(&[]));
        }
        if !seen.is_on_host(self, count * size_of::<T>())? {
            return Ok(None);
        }
        let start = self.address()? as *const T;
        if start.is_null() || !start.is_aligned() {
            return Ok(None);
        }
        // SAFETY: host memory of this size, as the plugin said of this buffer or of one of the same
        // shape and order on this CPU client; aligned, initialised since the buffer is ready, and
        // alive and unchanged as long as the buffer is borrowed (fact 16: no one else can
        // donate it).
        Ok(Some(unsafe { std::slice::from_raw_parts(start, count) }))
    }
}
