//! Boxes whose memory a thread uses again.
//!
//! A buffer is one word: it goes through lists, trees and results in a register. Were it all that
//! is known of it, each step of that would store and load it in pieces of other sizes, which a
//! processor waits for; that took longer than the checks.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::thread::LocalKey;

/// How many a thread keeps: as many outputs as a launch may make before those of the launch
/// before are dropped.
const MOST: usize = 4096;

/// What a thread keeps of boxes that were dropped: their memory.
pub(crate) struct Pool<T> {
    free: RefCell<Vec<Box<MaybeUninit<T>>>>,
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Pool<T> {
        Pool {
            free: RefCell::new(Vec::new()),
        }
    }

    #[inline]
    fn take(&self) -> Option<Box<MaybeUninit<T>>> {
        self.free.borrow_mut().pop()
    }

    #[inline]
    fn keep(&self, emptied: Box<MaybeUninit<T>>) {
        let mut free = self.free.borrow_mut();
        if free.len() < MOST {
            free.push(emptied);
        }
    }
}

/// What there are pools of.
pub(crate) trait Pooling: Sized + 'static {
    /// The thread's.
    fn pool() -> &'static LocalKey<Pool<Self>>;
}

/// A box of the thread's pool; dropped in whatever thread, its memory is that one's.
pub(crate) struct Pooled<T: Pooling> {
    boxed: NonNull<T>,
}

impl<T: Pooling> Pooled<T> {
    #[inline]
    pub(crate) fn new(value: T) -> Pooled<T> {
        // The pool is gone while the thread ends.
        let free = T::pool().try_with(Pool::take).ok().flatten();
        let mut empty = free.unwrap_or_else(Box::new_uninit);
        empty.write(value);
        Pooled {
            boxed: NonNull::from(Box::leak(empty)).cast(),
        }
    }
}

impl<T: Pooling> Deref for Pooled<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `new` filled a box that this alone owns, until `drop`.
        unsafe { self.boxed.as_ref() }
    }
}

impl<T: Pooling> DerefMut for Pooled<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and borrowed mutably.
        unsafe { self.boxed.as_mut() }
    }
}

impl<T: Pooling> Drop for Pooled<T> {
    #[inline]
    fn drop(&mut self) {
        /// The memory of a value that has been dropped, or whose drop has panicked.
        struct Emptied<T: Pooling>(NonNull<T>);

        impl<T: Pooling> Drop for Emptied<T> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: `new` made the box, nobody uses the value any more, and without one its
                // memory may have any content.
                let emptied = unsafe { Box::from_raw(self.0.cast::<MaybeUninit<T>>().as_ptr()) };
                // Where the pool is gone, so is the box with the closure.
                let _ = T::pool().try_with(|pool| pool.keep(emptied));
            }
        }

        let emptied = Emptied(self.boxed);
        // SAFETY: the value is there since `new`, and this is its last use. No pool is borrowed
        // meanwhile: dropping may make and drop others.
        unsafe { ptr::drop_in_place(emptied.0.as_ptr()) }
    }
}

// SAFETY: it owns its value, as a box does.
unsafe impl<T: Pooling + Send> Send for Pooled<T> {}
// SAFETY: it gives away what `&T` gives.
unsafe impl<T: Pooling + Sync> Sync for Pooled<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// Counts its drops, and may panic in them.
    struct Counted(Rc<Cell<u32>>, bool);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert!(!self.1, "a drop that panics");
        }
    }

    thread_local! {
        static COUNTED: Pool<Counted> = const { Pool::new() };
        static CHAINS: Pool<Chain> = const { Pool::new() };
        static WORDS: Pool<String> = const { Pool::new() };
    }

    impl Pooling for Counted {
        fn pool() -> &'static LocalKey<Pool<Self>> {
            &COUNTED
        }
    }

    /// Boxes in a box.
    struct Chain(Option<Pooled<Chain>>);

    impl Pooling for Chain {
        fn pool() -> &'static LocalKey<Pool<Self>> {
            &CHAINS
        }
    }

    impl Pooling for String {
        fn pool() -> &'static LocalKey<Pool<Self>> {
            &WORDS
        }
    }

    fn kept<T: Pooling>() -> usize {
        T::pool().with(|pool| pool.free.borrow().len())
    }

    #[test]
    fn it_is_a_word() {
        assert_eq!(size_of::<Option<Pooled<String>>>(), size_of::<usize>());
    }

    #[test]
    fn memory_is_used_again_and_values_are_dropped_once() {
        let drops = Rc::new(Cell::new(0));
        let first = Pooled::new(Counted(drops.clone(), false));
        let at = ptr::from_ref(&*first);
        drop(first);
        assert_eq!((drops.get(), kept::<Counted>()), (1, 1));
        let second = Pooled::new(Counted(drops.clone(), false));
        assert_eq!((ptr::from_ref(&*second), drops.get()), (at, 1));
        drop(second);
        assert_eq!(drops.get(), 2);
    }

    #[test]
    fn a_drop_that_panics_loses_nothing() {
        let drops = Rc::new(Cell::new(0));
        let panics = Pooled::new(Counted(drops.clone(), true));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(panics)));
        assert!(caught.is_err());
        assert_eq!((drops.get(), kept::<Counted>()), (1, 1));
    }

    #[test]
    fn dropping_one_may_drop_others() {
        let mut chain = Pooled::new(Chain(None));
        for _ in 1..100 {
            chain = Pooled::new(Chain(Some(chain)));
        }
        assert!(chain.0.as_ref().is_some_and(|next| next.0.is_some()));
        drop(chain);
        assert_eq!(kept::<Chain>(), 100);
    }

    #[test]
    fn a_bounded_number_is_kept_by_the_thread_that_drops() {
        let words: Vec<_> = (0..MOST + 10).map(|n| Pooled::new(n.to_string())).collect();
        let (of_dropping, word) = std::thread::spawn(move || {
            let word = words[17].clone();
            drop(words);
            (kept::<String>(), word)
        })
        .join()
        .expect("no panic");
        assert_eq!((of_dropping, &*word), (MOST, "17"));
        assert_eq!(kept::<String>(), 0);
    }

    #[test]
    fn a_thread_that_ends_drops_its_boxes_late() {
        thread_local! {
            static LATE: RefCell<Option<Pooled<String>>> = const { RefCell::new(None) };
        }
        let thread = std::thread::spawn(|| {
            // Before the pool is: it goes after it.
            LATE.with(|late| {
                *late.borrow_mut() = Some(Pooled::new("late".to_owned()));
            });
        });
        thread.join().expect("no panic");
    }
}
