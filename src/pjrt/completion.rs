//! The events of launches that others wait for, kept inside the client.
//!
//! An `Owned` event holds the session. Kept in the session it would keep it for
//! ever, so these hold nothing: the client, whose field they are, destroys them
//! before itself.

use std::ptr::NonNull;

use parking_lot::Mutex;
use pjrt_sys::{
    entry, Args, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args, PJRT_Event_Error_Args,
    PJRT_Event_IsReady_Args,
};
use smallvec::SmallVec;

use super::api::Api;
use super::owned::Owned;
use crate::error::Result;

/// Events of launches, one a device.
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

    /// Blocks until all have fired; the first error among them.
    pub(super) fn wait(&self) -> Result<()> {
        let mut first = Ok(());
        for event in &self.events {
            let mut wait = PJRT_Event_Await_Args::zeroed();
            wait.event = event.as_ptr();
            let mut outcome = PJRT_Event_Error_Args::zeroed();
            outcome.event = event.as_ptr();
            // SAFETY: the event is alive until it is taken out of the list, and its client
            // is too: it owns this, or is borrowed by who took this out of it.
            let status = unsafe {
                self.api
                    .call(entry::PJRT_Event_Await, &mut wait)
                    .and_then(|()| self.api.call(entry::PJRT_Event_Error, &mut outcome))
            };
            first = first.and(status);
        }
        first
    }

    /// Destroys those that have fired.
    fn prune(&mut self) {
        let api = self.api;
        self.events.retain(|event| {
            let mut args = PJRT_Event_IsReady_Args::zeroed();
            args.event = event.as_ptr();
            // SAFETY: as in `wait`.
            let asked = unsafe { api.call(entry::PJRT_Event_IsReady, &mut args) };
            let fired = asked.is_ok() && args.is_ready;
            if fired {
                destroy(api, *event);
            }
            !fired
        });
    }

    /// Destroys all. The room stays.
    fn clear(&mut self) {
        let api = self.api;
        self.events.drain(..).for_each(|event| destroy(api, event));
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Destroys an event that its holder has just let go of.
fn destroy(api: Api, event: NonNull<PJRT_Event>) {
    let mut args = PJRT_Event_Destroy_Args::zeroed();
    args.event = event.as_ptr();
    // SAFETY: taken from its owner in `Completion`, out of whose list it is taken here
    // once; the client is alive.
    let _ = unsafe { api.call(entry::PJRT_Event_Destroy, &mut args) };
}

/// So many events are kept before those that have fired are looked for.
const FEW: usize = 64;

/// The events of all launches that a collective one has to wait for.
pub(super) struct Pending {
    list: Mutex<List>,
}

struct List {
    kept: Completion,
    /// Where `kept` is moved to be waited for; its room is used again and again.
    spare: Completion,
    /// The length at which `kept` is pruned.
    limit: usize,
}

impl Pending {
    pub(super) fn new(api: Api) -> Pending {
        Pending {
            list: Mutex::new(List {
                kept: Completion::new(api, []),
                spare: Completion::new(api, []),
                limit: FEW,
            }),
        }
    }

    /// Keeps events until they have fired. How many that are is bounded by the launches
    /// in flight: twice as many at most, or [`FEW`].
    pub(super) fn keep(&self, events: impl IntoIterator<Item = Owned<PJRT_Event>>) {
        let mut list = self.list.lock();
        list.kept
            .events
            .extend(events.into_iter().map(Owned::into_raw));
        if list.kept.events.len() >= list.limit {
            list.kept.prune();
            list.limit = FEW.max(2 * list.kept.events.len());
        }
    }

    /// Blocks until all that are kept now have fired, however that ends. No lock is held
    /// meanwhile.
    pub(super) fn wait(&self) {
        let mut taken = {
            let mut list = self.list.lock();
            let empty = Completion::new(list.kept.api, []);
            let spare = std::mem::replace(&mut list.spare, empty);
            list.limit = FEW;
            std::mem::replace(&mut list.kept, spare)
        };
        let _ = taken.wait();
        taken.clear();
        self.list.lock().spare = taken;
    }

    /// Destroys all events, fired or not.
    pub(super) fn clear(&mut self) {
        self.list.get_mut().kept.clear();
    }
}
