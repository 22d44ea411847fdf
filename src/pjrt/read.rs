//! Copies to the host, of all elements or of some.

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Buffer_CopyRawToHost_Args, PJRT_Buffer_ToHostBuffer_Args,
    PJRT_Event,
};

use super::client::nothing_from;
use super::host::{bytes_mut, Plain};
use super::owned::Owned;
use super::release::release_after;
use crate::error::{Code, Error, Result};

/// What of a buffer is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// All of it (`PJRT_Buffer_ToHostBuffer`).
    Whole,
    /// What lies so many bytes behind its start (`PJRT_Buffer_CopyRawToHost`).
    From(i64),
}

impl What {
    fn entry(self) -> &'static str {
        match self {
            What::Whole => "PJRT_Buffer_ToHostBuffer",
            What::From(_) => "PJRT_Buffer_CopyRawToHost",
        }
    }
}

impl Owned<PJRT_Buffer> {
    /// Starts a copy of all `count` elements into memory of its own, in the order in
    /// which they lie on the device.
    pub(crate) fn read<T: Plain>(&self, count: usize) -> Result<Read<T>> {
        self.check_host_size(count * size_of::<T>())?;
        self.read_what(What::Whole, count)
    }

    /// Starts a copy of `count` elements from the `first` on, as they lie on the device: for
    /// buffers that are dense there. The plugin refuses what reaches out of the buffer. The caller
    /// has seen to it that the values are there where the plugin needs that (fact 51).
    pub(crate) fn read_range<T: Plain>(&self, first: usize, count: usize) -> Result<Read<T>> {
        self.read_what(from_element::<T>(first)?, count)
    }

    fn read_what<T: Plain>(&self, what: What, count: usize) -> Result<Read<T>> {
        let mut values = Vec::<T>::new();
        if values.try_reserve_exact(count).is_err() {
            // A run that could not have so much memory either has failed for that.
            self.ready_event()?.await_blocking()?;
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("the host has no memory for {count} elements"),
            ));
        }
        // SAFETY: room for `count` elements, which is what is asked for, or just checked to
        // be what the plugin writes; `Read` keeps it until the event has fired, also when
        // the call fails.
        let (status, event) =
            unsafe { self.start_read(what, values.as_mut_ptr().cast(), count * size_of::<T>()) };
        let read = Read {
            values,
            count,
            event,
        };
        status?;
        match read.event {
            Some(_) => Ok(read),
            None => Err(nothing_from(what.entry())),
        }
    }

    /// Copies into the caller's memory and waits for it. The length is checked
    /// against what the plugin would write.
    pub(crate) fn read_into<T: Plain>(&self, values: &mut [T]) -> Result<()> {
        self.check_host_size(size_of_val(values))?;
        self.read_what_into(What::Whole, values)
    }

    /// As [`read_range`](Self::read_range), into the caller's memory; waits for it.
    pub(crate) fn read_range_into<T: Plain>(&self, first: usize, values: &mut [T]) -> Result<()> {
        self.read_what_into(from_element::<T>(first)?, values)
    }

    fn read_what_into<T: Plain>(&self, what: What, values: &mut [T]) -> Result<()> {
        let bytes = bytes_mut(values);
        // SAFETY: the bytes are exclusively borrowed until this function returns,
        // and it returns only after the event has fired.
        let (status, event) = unsafe { self.start_read(what, bytes.as_mut_ptr(), bytes.len()) };
        let Some(event) = event else {
            status?;
            return Err(nothing_from(what.entry()));
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
    /// `destination` is writable for `size` bytes, which is as many as the plugin writes, and
    /// nothing else touches it until the event has fired.
    unsafe fn start_read(
        &self,
        what: What,
        destination: *mut u8,
        size: usize,
    ) -> (Result<()>, Option<Owned<PJRT_Event>>) {
        // SAFETY: the caller answers for the destination; the buffer is alive, and
        // dropping or donating it after the call is fine: the copy was enqueued
        // before (facts 14, 41). No host layout is asked for: 0.81 ignores it (fact 15), so the
        // order is put right by who reads.
        unsafe {
            match what {
                What::Whole => {
                    let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
                    args.src = self.raw();
                    args.dst = destination.cast();
                    args.dst_size = size;
                    let status = self.api().call(entry::PJRT_Buffer_ToHostBuffer, &mut args);
                    (status, Owned::adopt(self.session(), args.event))
                }
                What::From(offset) => {
                    let mut args = PJRT_Buffer_CopyRawToHost_Args::zeroed();
                    args.buffer = self.raw();
                    args.dst = destination.cast();
                    args.offset = offset;
                    // The size of memory that there is: it fits.
                    args.transfer_size = size as i64;
                    let status = self.api().call(entry::PJRT_Buffer_CopyRawToHost, &mut args);
                    (status, Owned::adopt(self.session(), args.event))
                }
            }
        }
    }
}

fn from_element<T>(first: usize) -> Result<What> {
    let offset = first.checked_mul(size_of::<T>());
    match offset.and_then(|offset| i64::try_from(offset).ok()) {
        Some(offset) => Ok(What::From(offset)),
        None => Err(Error::invalid(format!(
            "element {first} lies further away than 64 bits count"
        ))),
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
    /// One that is over: these are the values.
    pub(crate) fn over(values: Vec<T>) -> Read<T> {
        Read {
            count: values.len(),
            values,
            event: None,
        }
    }

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
        // SAFETY: the capacity is `count`, and all of it has been written: the event fired
        // without error, and the size was checked to be the whole; or it was full before.
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
        release_after(&event, std::mem::take(&mut self.values), || {});
    }
}
