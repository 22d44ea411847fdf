//! The events of the latest collective launch, kept inside the client.
//!
//! An `Owned` event holds the session. Kept in the session it would keep it for
//! ever, so these hold nothing: the client, whose field they are, destroys them
//! before itself.

use std::ptr::NonNull;

use pjrt_sys::{
    entry, Args, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args, PJRT_Event_Error_Args,
};
use smallvec::SmallVec;

use super::api::Api;
use super::owned::Owned;
use crate::error::Result;

/// One event a device.
pub(super) struct Completion {
    events: SmallVec<[NonNull<PJRT_Event>; 8]>,
    api: Api,
}

// SAFETY: as `Owned<PJRT_Event>`.
unsafe impl Send for Completion {}

impl Completion {
    /// Takes the events out of their owners. The caller keeps the result inside the
    /// client that made them.
    pub(super) fn new(api: Api, events: impl IntoIterator<Item = Owned<PJRT_Event>>) -> Completion {
        Completion {
            events: events.into_iter().map(Owned::into_raw).collect(),
            api,
        }
    }

    /// Blocks until all devices are done; the first error among them.
    pub(super) fn wait(&self) -> Result<()> {
        let mut first = Ok(());
        for event in &self.events {
            let mut wait = PJRT_Event_Await_Args::zeroed();
            wait.event = event.as_ptr();
            let mut outcome = PJRT_Event_Error_Args::zeroed();
            outcome.event = event.as_ptr();
            // SAFETY: the event is alive until `drop`, and its client is too: it owns
            // this.
            let status = unsafe {
                self.api
                    .call(entry::PJRT_Event_Await, &mut wait)
                    .and_then(|()| self.api.call(entry::PJRT_Event_Error, &mut outcome))
            };
            first = first.and(status);
        }
        first
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        for event in &self.events {
            let mut args = PJRT_Event_Destroy_Args::zeroed();
            args.event = event.as_ptr();
            // SAFETY: taken from its owner in `new`, destroyed here once; the client is
            // alive.
            let _ = unsafe { self.api.call(entry::PJRT_Event_Destroy, &mut args) };
        }
    }
}
