//! `Vec`s that have been emptied, for the next of their type: a launch on many devices takes
//! its arguments apart and builds its results anew, a tree for each device, and shall not
//! allocate for it.
//!
//! They are kept by thread, a few of each type: no lock, and nothing need be `Send`.

use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;

/// How many of a type are kept: arguments and results of a call, and those of another.
const MOST: usize = 8;
/// Larger ones are given back to the allocator.
const LARGEST: usize = 1 << 20;

thread_local! {
    /// A `Vec<Vec<T>>` for each type `T`.
    static SHELVES: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// An empty `Vec` with room for as many.
pub(crate) fn take<T: 'static>(room: usize) -> Vec<T> {
    let kept = with_shelf(|shelf: &mut Vec<Vec<T>>| shelf.pop());
    let mut taken = kept.flatten().unwrap_or_default();
    taken.reserve_exact(room);
    taken
}

/// Keeps the memory of a `Vec`; drops what is in it.
pub(crate) fn put<T: 'static>(mut emptied: Vec<T>) {
    // Outside the shelf: dropping runs users' code.
    emptied.clear();
    let size = emptied.capacity() * size_of::<T>();
    if size == 0 || size > LARGEST {
        return;
    }
    with_shelf(|shelf: &mut Vec<Vec<T>>| {
        if shelf.len() < MOST {
            shelf.push(emptied);
        }
    });
}

/// Room for a list of plain values: on the stack for up to `N`, else in memory that was used
/// before and will be again.
///
/// It is made where it stays: moving it costs as much as the rest of a small launch.
pub(crate) struct Room<T: Copy + 'static, const N: usize> {
    few: [MaybeUninit<T>; N],
    many: Vec<MaybeUninit<T>>,
}

impl<T: Copy + 'static, const N: usize> Room<T, N> {
    #[inline]
    pub(crate) fn new() -> Self {
        Room {
            few: [const { MaybeUninit::uninit() }; N],
            many: Vec::new(),
        }
    }

    /// So many places; to be asked for once.
    #[inline]
    pub(crate) fn places(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        if count > N {
            self.make_room(count);
        }
        self.same_places(count)
    }

    /// So many places, each of them filled; to be asked for once.
    #[inline]
    pub(crate) fn filled(&mut self, count: usize, fill: T) -> &mut [MaybeUninit<T>] {
        if count > N {
            self.make_room(count);
            self.many.fill(MaybeUninit::new(fill));
        } else {
            // All there are: that many takes a few instructions, and some a call.
            self.few.fill(MaybeUninit::new(fill));
        }
        self.same_places(count)
    }

    /// The places that were asked for.
    #[inline]
    pub(crate) fn same_places(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        if count <= N {
            &mut self.few[..count]
        } else {
            &mut self.many[..count]
        }
    }

    #[cold]
    fn make_room(&mut self, count: usize) {
        self.many = take(count);
        self.many.resize(count, MaybeUninit::uninit());
    }

    #[cold]
    fn put_away(&mut self) {
        put(std::mem::take(&mut self.many));
    }
}

impl<T: Copy + 'static, const N: usize> Drop for Room<T, N> {
    #[inline]
    fn drop(&mut self) {
        if self.many.capacity() > 0 {
            self.put_away();
        }
    }
}

/// `None` while the thread ends.
fn with_shelf<T: 'static, R>(work: impl FnOnce(&mut Vec<Vec<T>>) -> R) -> Option<R> {
    let on_shelves = |shelves: &RefCell<Vec<Box<dyn Any>>>| {
        let mut shelves = shelves.borrow_mut();
        let known = shelves.iter().position(|shelf| shelf.is::<Vec<Vec<T>>>());
        let index = known.unwrap_or_else(|| {
            shelves.push(Box::new(Vec::<Vec<T>>::with_capacity(MOST)));
            shelves.len() - 1
        });
        shelves[index].downcast_mut().map(work)
    };
    SHELVES.try_with(on_shelves).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_by_type() {
        let mut numbers = take::<u64>(4);
        numbers.push(1);
        let memory = numbers.as_ptr();
        put(numbers);
        let others = take::<i64>(4);
        assert_ne!(others.as_ptr().cast::<u64>(), memory);
        let again = take::<u64>(4);
        assert_eq!(again.as_ptr(), memory);
        assert!(again.is_empty());
    }

    #[test]
    fn few_are_kept() {
        for _ in 0..3 {
            let all: Vec<Vec<u16>> = (0..100).map(|_| take(1)).collect();
            all.into_iter().for_each(put);
        }
        let kept = with_shelf(|shelf: &mut Vec<Vec<u16>>| shelf.len());
        assert_eq!(kept, Some(MOST));
    }

    #[test]
    fn dropping_may_put_more() {
        struct Nested(Vec<u8>);
        impl Drop for Nested {
            fn drop(&mut self) {
                put(std::mem::take(&mut self.0));
            }
        }
        put(vec![Nested(vec![1]), Nested(vec![2])]);
        assert_eq!(take::<u8>(1).capacity(), 1);
    }
}
