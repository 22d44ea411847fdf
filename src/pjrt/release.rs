//! Host memory that is let go of when an event fires.
//!
//! Plain memory is freed right inside the plugin's callback, which calls nothing of the plugin:
//! no thread is woken for it. A callback holds no client, since the last holder must not go
//! inside one (fact 27); the client is told how many releases are yet to come, and waits for
//! them before it is destroyed.

use std::borrow::Borrow;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;
use pjrt_sys::{entry, Args, PJRT_Error, PJRT_Event, PJRT_Event_OnReady_Args};

use super::aligned::HostVec;
use super::api::Api;
use super::client::RawClient;
use super::event::Notice;
use super::host::Plain;
use super::host_values::HostValues;
use super::owned::{Maker, Owned};
use super::reaper;
use crate::client::Session;

/// The releases of a client that are yet to come. As long as there are any, the client is there,
/// whose field this is: its last holder waits for them, or leaves it to them.
#[derive(Default)]
pub(super) struct Releases {
    /// [`ONE`] for each, and [`LEFT`] once the client is left to the last of them.
    count: AtomicUsize,
    /// The client, where whoever dropped its last handle would not wait for them.
    left: Mutex<Option<Arc<RawClient>>>,
}

const LEFT: usize = 1;
const ONE: usize = 2;

impl Releases {
    pub(super) fn are_over(&self) -> bool {
        self.count.load(Ordering::SeqCst) < ONE
    }

    /// Has the last of them destroy the client, whose releases these are. Does nothing where they
    /// are over. None begins any more.
    pub(super) fn leave_to_last(&self, client: &Arc<RawClient>) {
        // Before the mark: who sees that looks for the client.
        *self.left.lock() = Some(Arc::clone(client));
        if self.count.fetch_or(LEFT, Ordering::SeqCst) < ONE {
            // They are over: nobody comes for it.
            *self.left.lock() = None;
        }
    }

    fn begin(&self) {
        self.count.fetch_add(ONE, Ordering::SeqCst);
    }

    /// May run inside the plugin.
    ///
    /// # Safety
    /// `this` has begun as often as it has ended, and once more.
    #[inline]
    unsafe fn end(this: *const Releases) {
        // SAFETY: it counts this one still, so the client is there. It may be gone right after.
        let before = unsafe { (*this).count.fetch_sub(ONE, Ordering::SeqCst) };
        if before == ONE | LEFT {
            // SAFETY: the last of them, to which the client was left: it is in there, and is the
            // holder of this. The lock is let go of with this statement: once the reaper has the
            // client, it may be gone, and the lock with it.
            let client = unsafe { (*this).left.lock().take() };
            if let Some(client) = client {
                reaper::run(Box::new(move || drop(client)));
            }
        }
        if before < 2 * ONE {
            reaper::tell_waiting();
        }
    }
}

/// Memory that an event's callback can let go of.
pub(super) trait Memory: Send + 'static {
    /// Whether letting go of it calls nothing of the plugin and holds no client.
    fn is_plain(&self) -> bool;
}

impl<T: Plain> Memory for Vec<T> {
    fn is_plain(&self) -> bool {
        true
    }
}

impl<T: Plain> Memory for HostVec<T> {
    fn is_plain(&self) -> bool {
        true
    }
}

impl<T: Plain> Memory for HostValues<T> {
    fn is_plain(&self) -> bool {
        !self.is_pinned()
    }
}

/// Drops owned memory when an event has fired that says that it is no longer used, and runs
/// `then` before that, which must not block: it may run inside the plugin.
pub(super) fn release_after<V: Memory, M: Maker + Borrow<Arc<Session>>>(
    done: &Owned<PJRT_Event, M>,
    memory: V,
    then: impl FnOnce() + Send + 'static,
) {
    if memory.is_plain() {
        return in_callback(done, memory, then);
    }
    if matches!(done.is_ready(), Ok(true)) {
        then();
        return drop(memory);
    }
    done.on_ready(
        |notice| {
            if matches!(notice, Notice::Fired(_)) {
                then();
            }
        },
        move |notice| match notice {
            Notice::Fired(_) => drop(memory),
            // In use perhaps, and nobody will tell when it isn't: leaked on purpose.
            Notice::Refused(_) => std::mem::forget(memory),
        },
    );
}

struct Release<V, F> {
    api: Api,
    releases: *const Releases,
    memory: V,
    then: F,
}

fn in_callback<V, F, M>(done: &Owned<PJRT_Event, M>, memory: V, then: F)
where
    V: Memory,
    F: FnOnce() + Send + 'static,
    M: Maker + Borrow<Arc<Session>>,
{
    let releases = done.session().raw.releases();
    releases.begin();
    let release = Box::new(Release {
        api: done.api(),
        releases,
        memory,
        then,
    });
    let mut args = PJRT_Event_OnReady_Args::zeroed();
    args.event = done.raw();
    args.callback = Some(fired::<V, F>);
    args.user_arg = Box::into_raw(release).cast();
    // SAFETY: the event is alive. The box is given to the callback, which takes it back once;
    // it does not run when the call fails.
    let status = unsafe { done.api().call(entry::PJRT_Event_OnReady, &mut args) };
    if status.is_err() {
        // SAFETY: the plugin refused, so nobody else has the box.
        let release = unsafe { Box::from_raw(args.user_arg.cast::<Release<V, F>>()) };
        // In use perhaps, and nobody will tell when it isn't: leaked on purpose.
        std::mem::forget(release.memory);
        // SAFETY: it began above.
        unsafe { Releases::end(release.releases) };
    }
}

/// The callback: may run inside a call of ours, or on a thread of the plugin's.
unsafe extern "C" fn fired<V: Memory, F: FnOnce()>(error: *mut PJRT_Error, user_arg: *mut c_void) {
    // SAFETY: `user_arg` is the box that `in_callback` gave away, and the plugin calls back once.
    let release = unsafe { Box::from_raw(user_arg.cast::<Release<V, F>>()) };
    let Release {
        api,
        releases,
        memory,
        then,
    } = *release;
    if !error.is_null() {
        // Told by the event to whoever asks it.
        // SAFETY: the callback owns its error.
        drop(unsafe { api.take_error("PJRT_Event_OnReady", error) });
    }
    then();
    drop(memory);
    // SAFETY: it began when the box was made. The last: the client may be destroyed then.
    unsafe { Releases::end(releases) };
}
