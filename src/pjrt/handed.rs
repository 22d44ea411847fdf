//! What a launch hands out, until someone takes it.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use pjrt_sys::PJRT_Buffer;

use super::owned::Owned;
use crate::client::Session;
use crate::spare::Room;

/// So many lie on the stack; what isn't used of them has to be filled all the same.
const FEW: usize = 8;

/// The outputs of a launch, device by device: handles that nobody else has. Those that nobody
/// takes are destroyed.
pub(crate) struct Handed<'s> {
    session: &'s Arc<Session>,
    /// Null before the launch, and where it gave nothing.
    room: Room<*mut PJRT_Buffer, FEW>,
    count: usize,
    taken: usize,
}

impl<'s> Handed<'s> {
    /// Room for so many outputs of a client.
    #[inline]
    pub(crate) fn new(session: &'s Arc<Session>, count: usize) -> Handed<'s> {
        let mut handed = Handed {
            session,
            room: Room::new(ptr::null_mut()),
            count,
            taken: 0,
        };
        handed.room.list(count, ptr::null_mut());
        handed
    }

    /// The places that the plugin writes handles to which are nobody else's.
    #[inline]
    pub(super) fn places(&mut self) -> &mut [*mut PJRT_Buffer] {
        self.room.listed(self.count)
    }

    /// Whether nothing has been handed out by this client yet.
    #[inline]
    pub(super) fn is_for(&self, session: &Arc<Session>) -> bool {
        self.taken == 0 && Arc::ptr_eq(self.session, session)
    }

    /// Whether there is an output in each place.
    #[inline]
    pub(super) fn is_complete(&mut self) -> bool {
        self.places().iter().all(|output| !output.is_null())
    }

    /// Destroys what is there.
    #[cold]
    pub(super) fn discard(&mut self) {
        while self.taken < self.count {
            drop(self.take());
        }
    }

    #[inline]
    fn next(&mut self) -> Option<NonNull<PJRT_Buffer>> {
        let taken = self.taken;
        let next = self.places().get(taken).copied();
        self.taken += 1;
        NonNull::new(next?)
    }

    /// The next output.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Owned<PJRT_Buffer>> {
        let next = self.next()?;
        // SAFETY: made by the session's client, and passed over from now on.
        unsafe { Owned::adopt(self.session, next.as_ptr()) }
    }

    /// Puts the next output in the place of another buffer of the same client, whose handle is
    /// destroyed. Cheaper than [`Handed::take`]: the buffer holds its client already.
    /// False where there is none.
    #[inline]
    pub(crate) fn take_in_place(&mut self, of: &mut Owned<PJRT_Buffer>) -> bool {
        if !Arc::ptr_eq(of.session(), self.session) {
            return match self.take() {
                Some(next) => {
                    *of = next;
                    true
                }
                None => false,
            };
        }
        let Some(next) = self.next() else {
            return false;
        };
        // SAFETY: as above; the session is the same.
        unsafe { of.replace(next) };
        true
    }
}

impl Drop for Handed<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.taken < self.count {
            self.discard();
        }
    }
}
