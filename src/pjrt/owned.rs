//! Ownership of PJRT objects: the crate's only `Drop` for them.

use std::borrow::Borrow;
use std::ptr::NonNull;
use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_AsyncHostToDeviceTransferManager,
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args, PJRT_Buffer, PJRT_Buffer_Destroy_Args,
    PJRT_Event, PJRT_Event_Destroy_Args, PJRT_Executable, PJRT_Executable_Destroy_Args,
    PJRT_LoadedExecutable, PJRT_LoadedExecutable_Destroy_Args, PJRT_TopologyDescription,
    PJRT_TopologyDescription_Destroy_Args,
};

use super::api::Api;
use crate::client::Session;

/// A PJRT object that must be destroyed exactly once.
///
/// It holds what made it, as a rule the client: destroying the client first makes every
/// later use of the object, its destruction too, undefined (a segfault in practice).
pub(crate) struct Owned<T: Object, M: Maker = Arc<Session>> {
    raw: NonNull<T>,
    maker: M,
}

/// What makes objects, and stays alive as long as they do.
pub(crate) trait Maker: Clone + Send + Sync {
    /// The plugin's table.
    fn api(&self) -> Api;
}

impl Maker for Arc<Session> {
    #[inline]
    fn api(&self) -> Api {
        self.api
    }
}

/// For what is gone again before the session may go: counting a holder takes longer than most
/// calls.
impl Maker for &Arc<Session> {
    fn api(&self) -> Api {
        self.raw.api()
    }
}

/// A plugin is never unloaded, so its table is alive as long as anything.
impl Maker for Api {
    fn api(&self) -> Api {
        *self
    }
}

/// A kind of object with an entry that destroys it.
pub(crate) trait Object: Sized {
    /// Calls the entry that destroys the object.
    ///
    /// # Safety
    /// `raw` is alive and is not used after the call.
    unsafe fn destroy(api: Api, raw: *mut Self);
}

impl<T: Object, M: Maker> Owned<T, M> {
    /// Takes ownership of what a call handed out; `None` when that is null.
    ///
    /// # Safety
    /// A non-null `raw` was made by `maker`, is alive, and nobody else destroys it.
    #[inline]
    pub(super) unsafe fn adopt(maker: &M, raw: *mut T) -> Option<Owned<T, M>> {
        Some(Owned {
            raw: NonNull::new(raw)?,
            maker: maker.clone(),
        })
    }

    /// As [`Owned::adopt`], of what its owner has just let go of ([`Owned::into_raw`]).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn adopt_by(maker: M, raw: NonNull<T>) -> Owned<T, M> {
        Owned { raw, maker }
    }

    /// Destroys the object, and owns another one in its place.
    ///
    /// # Safety
    /// As [`Owned::adopt`] of `raw`.
    #[inline]
    pub(super) unsafe fn replace(&mut self, raw: NonNull<T>) {
        let before = std::mem::replace(&mut self.raw, raw);
        // SAFETY: `adopt` made this its only owner, and it has just been let go.
        unsafe { T::destroy(self.api(), before.as_ptr()) }
    }

    /// Gives up ownership: whoever takes the pointer destroys the object, while its
    /// maker is alive.
    pub(super) fn into_raw(self) -> NonNull<T> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is never touched again, so the maker is moved out once.
        drop(unsafe { std::ptr::read(&this.maker) });
        this.raw
    }

    #[inline]
    pub(super) fn raw(&self) -> *mut T {
        self.raw.as_ptr()
    }

    #[inline]
    pub(super) fn api(&self) -> Api {
        self.maker.api()
    }
}

impl<T: Object, M: Maker + Borrow<Arc<Session>>> Owned<T, M> {
    #[inline]
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.maker.borrow()
    }
}

impl<T: Object> Owned<T, &Arc<Session>> {
    /// Holds the session from now on.
    pub(super) fn holding(self) -> Owned<T> {
        let maker = Arc::clone(self.maker);
        Owned {
            raw: self.into_raw(),
            maker,
        }
    }

    /// Without a session to hold.
    ///
    /// # Safety
    /// The session outlives the result.
    pub(super) unsafe fn unheld(self) -> Owned<T, Api> {
        let maker = self.api();
        Owned {
            raw: self.into_raw(),
            maker,
        }
    }

    /// Holds the session from now on, by a handle that the caller needs no more.
    pub(super) fn held_by(self, session: Arc<Session>) -> Owned<T> {
        if !Arc::ptr_eq(self.maker, &session) {
            return self.holding();
        }
        Owned {
            raw: self.into_raw(),
            maker: session,
        }
    }
}

impl<T: Object, M: Maker> Drop for Owned<T, M> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `adopt` made this the only owner, and this is the last use. What made
        // it is alive: `maker` goes after this body.
        unsafe { T::destroy(self.api(), self.raw.as_ptr()) }
    }
}

// SAFETY: PJRT objects aren't tied to a thread: the header asks for a thread-safe
// implementation, and XLA's PjRtBuffer, PjRtLoadedExecutable and futures are; an
// executable that isn't loaded and a topology are read-only.
unsafe impl<T: Object, M: Maker> Send for Owned<T, M> {}
// SAFETY: as above; what changes an object (Execute's donation) is ordered
// inside it by XLA's own locks.
unsafe impl<T: Object, M: Maker> Sync for Owned<T, M> {}

macro_rules! object {
    ($object:ident, $field:ident, $entry:ident, $args:ident) => {
        impl Object for $object {
            #[inline]
            unsafe fn destroy(api: Api, raw: *mut Self) {
                let mut args = $args::zeroed();
                args.$field = raw;
                // SAFETY: the caller's promise. A failure to destroy leaves
                // nothing to do: the handle is gone either way.
                let _ = unsafe { api.call(entry::$entry, &mut args) };
            }
        }
    };
}

object!(
    PJRT_AsyncHostToDeviceTransferManager,
    transfer_manager,
    PJRT_AsyncHostToDeviceTransferManager_Destroy,
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args
);
object!(
    PJRT_Buffer,
    buffer,
    PJRT_Buffer_Destroy,
    PJRT_Buffer_Destroy_Args
);
object!(
    PJRT_Event,
    event,
    PJRT_Event_Destroy,
    PJRT_Event_Destroy_Args
);
object!(
    PJRT_Executable,
    executable,
    PJRT_Executable_Destroy,
    PJRT_Executable_Destroy_Args
);
object!(
    PJRT_LoadedExecutable,
    executable,
    PJRT_LoadedExecutable_Destroy,
    PJRT_LoadedExecutable_Destroy_Args
);
object!(
    PJRT_TopologyDescription,
    topology,
    PJRT_TopologyDescription_Destroy,
    PJRT_TopologyDescription_Destroy_Args
);
