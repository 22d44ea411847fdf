//! The end of a scope of borrowed buffers: the one place where borrowed host memory and
//! the wait for XLA are kept together.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;

use super::host::Plain;
use super::seen::Sharing;
use super::shared::{from_borrowed, Borrowed};
use crate::buffer::Buffer;
use crate::client::Session;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Place;
use crate::upload_shape::UploadShape;

/// Buffers of borrowed host memory, alive until the scope ends: see
/// [`Client::scope`](crate::Client::scope).
pub struct Scope<'scope, 'env: 'scope> {
    session: &'scope Arc<Session>,
    buffers: &'scope Buffers,
    // Invariant in both, as `std::thread::Scope` is.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The buffers of a scope; waits for XLA when dropped. Entries stay where they are, so that
/// references to them stay good.
struct Buffers {
    /// How many have been made so far; each takes the number that it finds here.
    made: AtomicUsize,
    /// Those with the first numbers, without memory of their own.
    first: [UnsafeCell<MaybeUninit<Entry>>; FIRST],
    rest: Mutex<Vec<NonNull<Entry>>>,
}

/// Few scopes have more.
const FIRST: usize = 4;

/// Its drop waits for XLA; the buffer goes before that, by hand.
struct Entry {
    buffer: ManuallyDrop<Buffer>,
    _borrowed: Borrowed,
}

impl Entry {
    /// Drops the buffer.
    ///
    /// # Safety
    /// It was not dropped before, and is not looked at any more.
    unsafe fn let_go(&mut self) {
        self.buffer.raw().release_if_indestructible();
        // SAFETY: the caller's promise.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
    }
}

// SAFETY: entries are made of what may be used by and go to other threads. Each place in `first`
// is written by who alone has its number, and looked at by who has got a reference from there;
// all are taken back in `drop` alone.
unsafe impl Sync for Buffers {}

/// Runs `work` with a scope, and ends the scope on every way out of it.
pub(crate) fn run<'env, R>(
    session: &Arc<Session>,
    work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    // A value of this frame that `work` can't reach but through the scope: it can't be
    // leaked, and is dropped on return and on panic.
    let buffers = Buffers {
        made: AtomicUsize::new(0),
        first: [const { UnsafeCell::new(MaybeUninit::uninit()) }; FIRST],
        rest: Mutex::default(),
    };
    let scope = Scope {
        session,
        buffers: &buffers,
        scope: PhantomData,
        env: PhantomData,
    };
    work(&scope)
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// A buffer of borrowed, row-major values. A CPU device shares memory that is aligned to
    /// 64 bytes ([`Buffer::is_zero_copy`] tells) and copies other memory.
    ///
    /// The buffer can be lent, not given: the scope owns it.
    ///
    /// # Errors
    /// As [`Buffer::from_host`]; the place is another client's.
    pub fn borrow<T: Element + Plain>(
        &'scope self,
        place: impl Into<Place>,
        values: &'env [T],
        dims: &[usize],
    ) -> Result<&'scope Buffer> {
        let place = place.into();
        if !Arc::ptr_eq(place.session(), self.session) {
            return Err(Error::invalid(format!(
                "{place:?} belongs to another client than the scope"
            )));
        }
        let (at, device) = place.resolve()?;
        let shape = UploadShape::of::<T>(dims, values.len(), self.session, at)?;
        // SAFETY: the entry is kept in the scope, which `run` drops before it returns; 'env and
        // the session that `run` borrows outlive it. The buffer is never handed out by value, and
        // `Buffers` drops it before `Borrowed`.
        let (raw, borrowed) = unsafe {
            from_borrowed(self.session, values, T::TYPE, dims, at)
                .map_err(|error| error.context(format!("lending {} to {place:?}", shape.shape())))?
        };
        let raw = raw.held_by(place.into_session());
        let form = shape.form_as_shared(&raw, at);
        let address = values.as_ptr() as usize;
        let shared = form.seen().is_shared(&raw, address, at, Sharing::Lent);
        let buffer = Buffer::from_raw(raw, form, device).with_shared(shared);
        Ok(self.buffers.keep(Entry {
            buffer: ManuallyDrop::new(buffer),
            _borrowed: borrowed,
        }))
    }
}

impl Buffers {
    #[inline]
    fn keep(&self, entry: Entry) -> &Buffer {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = self.first.get(number) {
            // SAFETY: nobody else has the number, so nobody else looks here or has a reference to
            // it. The entry is taken in `drop` alone, which can't run while `self` is borrowed,
            // and is never changed. Nothing happens between the number and this.
            let entry: &Entry = unsafe { (*place.get()).write(entry) };
            return &entry.buffer;
        }
        let entry = NonNull::from(Box::leak(Box::new(entry)));
        self.rest.lock().push(entry);
        // SAFETY: the entry is freed in `drop` alone, which can't run while `self` is borrowed,
        // and is never changed.
        unsafe { &entry.as_ref().buffer }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // Nobody has a reference to an entry any more. Those that have a number have been written.
        let made = (*self.made.get_mut()).min(FIRST);
        let first = &mut self.first[..made];
        let rest = std::mem::take(self.rest.get_mut());
        // First all handles go, so that the waits below do not wait for each other's turn.
        for place in &mut *first {
            // SAFETY: written in `keep`; its buffer is let go of here alone.
            unsafe { place.get_mut().assume_init_mut().let_go() };
        }
        for entry in &rest {
            // SAFETY: made from a box in `keep`, not freed yet; as above.
            unsafe { (*entry.as_ptr()).let_go() };
        }
        for place in first {
            // SAFETY: written in `keep`, dropped here alone.
            unsafe { place.get_mut().assume_init_drop() };
        }
        for entry in rest {
            // SAFETY: made from a box in `keep`, freed here once.
            drop(unsafe { Box::from_raw(entry.as_ptr()) });
        }
    }
}
