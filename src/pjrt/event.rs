//! Events: asking, waiting, and being told.

use std::borrow::Borrow;
use std::ffi::c_void;
use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Error, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Error_Args,
    PJRT_Event_IsReady_Args, PJRT_Event_OnReady_Args,
};

use super::api::Api;
use super::client::RawClient;
use super::owned::{Maker, Owned};
use super::reaper;
use crate::client::Session;
use crate::error::{Error, Result};

impl<M: Maker> Owned<PJRT_Event, M> {
    /// Whether the event has fired. A fired event may carry an error: ask
    /// [`outcome`](Self::outcome) too.
    pub(crate) fn is_ready(&self) -> Result<bool> {
        let mut args = PJRT_Event_IsReady_Args::zeroed();
        args.event = self.raw();
        // SAFETY: the event is alive.
        unsafe { self.api().call(entry::PJRT_Event_IsReady, &mut args)? };
        Ok(args.is_ready)
    }

    /// What a fired event carries. Only to be asked once it has fired.
    pub(crate) fn outcome(&self) -> Result<()> {
        let mut args = PJRT_Event_Error_Args::zeroed();
        args.event = self.raw();
        // SAFETY: the event is alive.
        unsafe { self.api().call(entry::PJRT_Event_Error, &mut args) }
    }

    /// Blocks until the event fires; its error, if it carries one.
    pub(crate) fn await_blocking(&self) -> Result<()> {
        self.await_firing()?;
        self.outcome()
    }

    /// Blocks until the event fires, for whoever needn't know its outcome. An error is that, or
    /// says that the wait failed: whether it has fired is to be asked then.
    pub(super) fn await_firing(&self) -> Result<()> {
        let mut args = PJRT_Event_Await_Args::zeroed();
        args.event = self.raw();
        // SAFETY: the event is alive.
        unsafe { self.api().call(entry::PJRT_Event_Await, &mut args) }
    }
}

impl<M: Maker + Borrow<Arc<Session>>> Owned<PJRT_Event, M> {
    /// Has two things run after the event fires, with its outcome. `inline` runs inside the
    /// plugin's call or callback: it must not block, run users' code or drop a client.
    /// `notice` runs on the reaper's thread, never inside the plugin, where destroying a
    /// client deadlocks. Dropping the event cancels neither.
    pub(crate) fn on_ready(
        &self,
        inline: impl FnOnce(&Notice) + Send + 'static,
        notice: impl FnOnce(Notice) + Send + 'static,
    ) {
        let pending = Box::new(Pending {
            api: self.api(),
            client: Arc::clone(&self.session().raw),
            inline: Box::new(inline),
            notice: Box::new(notice),
        });
        let mut args = PJRT_Event_OnReady_Args::zeroed();
        args.event = self.raw();
        args.callback = Some(fired);
        args.user_arg = Box::into_raw(pending).cast();
        // SAFETY: the event is alive. The box is given to the callback, which takes
        // it back once; it does not run when the call fails.
        let status = unsafe { self.api().call(entry::PJRT_Event_OnReady, &mut args) };
        if let Err(error) = status {
            // SAFETY: the plugin refused, so nobody else has the box.
            let pending = unsafe { Box::from_raw(args.user_arg.cast::<Pending>()) };
            pending.hand_over(Notice::Refused(error));
        }
    }
}

/// What is told about an event.
pub(crate) enum Notice {
    /// It fired, with this outcome.
    Fired(Result<()>),
    /// The plugin would not promise to call back: the event may be pending still.
    Refused(Error),
}

impl Notice {
    /// The outcome, a refusal included.
    pub(crate) fn outcome(&self) -> Result<()> {
        match self {
            Notice::Fired(outcome) => outcome.clone(),
            Notice::Refused(error) => Err(error.clone()),
        }
    }
}

struct Pending {
    api: Api,
    client: Arc<RawClient>,
    inline: Box<dyn FnOnce(&Notice) + Send>,
    notice: Box<dyn FnOnce(Notice) + Send>,
}

impl Pending {
    fn hand_over(self, outcome: Notice) {
        let Pending {
            client,
            inline,
            notice,
            ..
        } = self;
        inline(&outcome);
        reaper::run(Box::new(move || {
            notice(outcome);
            // May be the client's last holder: it is destroyed here, on the
            // reaper, not in the plugin's callback.
            drop(client);
        }));
    }
}

/// The callback: takes the error, hands the rest over, runs nothing of the user's.
unsafe extern "C" fn fired(error: *mut PJRT_Error, user_arg: *mut c_void) {
    // SAFETY: `user_arg` is the box that `on_ready` gave away, and the plugin
    // calls back once.
    let pending = unsafe { Box::from_raw(user_arg.cast::<Pending>()) };
    let outcome = if error.is_null() {
        Ok(())
    } else {
        // SAFETY: the callback owns its error.
        Err(unsafe { pending.api.take_error("PJRT_Event_OnReady", error) })
    };
    pending.hand_over(Notice::Fired(outcome));
}

/// The event that tells when a device is done with a launch.
pub(crate) type DoneEvent = Owned<PJRT_Event>;
