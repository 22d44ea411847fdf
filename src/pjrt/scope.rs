//! The end of a scope of borrowed buffers: the one place where borrowed host memory and
//! the wait for XLA are kept together.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;

use super::host::Plain;
use super::shared::{from_borrowed, Borrowed};
use crate::buffer::Buffer;
use crate::client::Session;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Place;
use crate::shape::Shape;
use crate::upload;

/// Buffers of borrowed host memory, alive until the scope ends: see
/// [`Client::scope`](crate::Client::scope).
pub struct Scope<'scope, 'env: 'scope> {
    session: Arc<Session>,
    buffers: &'scope Buffers,
    // Invariant in both, as `std::thread::Scope` is.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The buffers of a scope; waits for XLA when dropped. Entries stay where they are, so that
/// references to them stay good.
#[derive(Default)]
struct Buffers {
    entries: Mutex<Vec<NonNull<Entry>>>,
}

struct Entry {
    buffer: Buffer,
    // Dropped after the buffer: waits for XLA.
    _borrowed: Borrowed,
}

// SAFETY: the entries are owned, and made of what may go to other threads.
unsafe impl Send for Buffers {}
// SAFETY: entries are handed out by shared reference only, until all are dropped.
unsafe impl Sync for Buffers {}

/// Runs `work` with a scope, and ends the scope on every way out of it.
pub(crate) fn run<'env, R>(
    session: &Arc<Session>,
    work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    // A value of this frame that `work` can't reach but through the scope: it can't be
    // leaked, and is dropped on return and on panic.
    let buffers = Buffers::default();
    let scope = Scope {
        session: Arc::clone(session),
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
        if !Arc::ptr_eq(place.session(), &self.session) {
            return Err(Error::invalid(format!(
                "{place:?} belongs to another client than the scope"
            )));
        }
        let shape = Shape::of::<T>(dims)?;
        shape.check_elements(T::TYPE, values.len())?;
        upload::check_known(&self.session, T::TYPE)?;
        let (at, device) = place.resolve()?;
        // SAFETY: the entry is kept in the scope, which `run` drops before it returns; 'env
        // outlives `run`. The buffer is never handed out by value, and dropped before
        // `Borrowed`, by the order of `Entry`'s fields.
        let (raw, borrowed) = unsafe {
            from_borrowed(&self.session, values, T::TYPE, &shape.raw_dims(), at)
                .map_err(|error| error.context(format!("lending {shape} to {place:?}")))?
        };
        let form = upload::shape_as_shared(&raw, &shape, at);
        let shared = raw
            .address()
            .is_ok_and(|address| address == values.as_ptr() as usize);
        let buffer = Buffer::from_raw(raw, form, device).with_shared(shared);
        Ok(self.buffers.keep(Box::new(Entry {
            buffer,
            _borrowed: borrowed,
        })))
    }
}

impl Buffers {
    fn keep(&self, entry: Box<Entry>) -> &Buffer {
        let entry = NonNull::from(Box::leak(entry));
        self.entries.lock().push(entry);
        // SAFETY: the entry is freed in `drop` alone, which can't run while `self` is borrowed,
        // and is never changed.
        unsafe { &entry.as_ref().buffer }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        // First all are deleted, so that the waits below do not wait for each other's turn.
        for entry in &entries {
            // SAFETY: made from a box in `keep`, not freed yet.
            let _ = unsafe { entry.as_ref() }.buffer.raw().delete();
        }
        for entry in entries {
            // SAFETY: made from a box in `keep`, freed here once; no reference is left.
            drop(unsafe { Box::from_raw(entry.as_ptr()) });
        }
    }
}
