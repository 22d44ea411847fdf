//! What a launch hands out, until someone takes it.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use pjrt_sys::PJRT_Buffer;

use super::owned::Owned;
use crate::client::Session;
use crate::spare::Room;

/// So many lie on the stack.
const FEW: usize = 8;

/// The outputs of a launch, device by device: handles that nobody else has. Those that nobody
/// takes are destroyed.
pub(crate) struct Handed<'s> {
    session: &'s Arc<Session>,
    room: Room<*mut PJRT_Buffer, FEW>,
    /// How many places of the room have been filled: none before the launch.
    count: usize,
    taken: usize,
}

impl<'s> Handed<'s> {
    /// For the outputs of a launch of a client.
    #[inline]
    pub(crate) fn new(session: &'s Arc<Session>) -> Handed<'s> {
        Handed {
            session,
            room: Room::new(),
            count: 0,
            taken: 0,
        }
    }

    /// So many places, all null. The plugin writes handles to them which are nobody else's.
    ///
    /// # Panics
    /// There have been places before, or they are for another client.
    #[inline]
    pub(super) fn places(&mut self, session: &Arc<Session>, count: usize) -> *mut *mut PJRT_Buffer {
        let is_new = self.count == 0 && self.taken == 0;
        assert!(
            is_new && Arc::ptr_eq(self.session, session),
            "another launch's outputs"
        );
        let places = self.room.filled(count, ptr::null_mut());
        // They are, from here on.
        self.count = count;
        places.as_mut_ptr().cast()
    }

    /// Whether there is an output in each place.
    #[inline]
    pub(super) fn is_complete(&mut self) -> bool {
        let places = self.room.same_places(self.count);
        // SAFETY: as many were filled.
        let given =
            |place: &MaybeUninit<*mut PJRT_Buffer>| !unsafe { place.assume_init() }.is_null();
        places.iter().all(given)
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
        let place = self.room.same_places(self.count).get(taken)?;
        self.taken += 1;
        // SAFETY: as many were filled.
        NonNull::new(unsafe { place.assume_init() })
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
    #[inline(always)]
    fn drop(&mut self) {
        if self.taken < self.count {
            self.discard();
        }
    }
}
