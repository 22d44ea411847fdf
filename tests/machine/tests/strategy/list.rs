//! Lists of fixed length that shrink by halves: first large parts are left out, then smaller ones,
//! then what is left gets simpler. proptest's own leave out one element at a time, and these are long.

use std::fmt::Debug;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// `length` elements.
pub fn list<S: Strategy>(element: S, length: usize) -> List<S> {
    List { element, length }
}

#[derive(Debug)]
pub struct List<S> {
    element: S,
    length: usize,
}

pub struct ListTree<T> {
    elements: Vec<T>,
    /// The elements that are in it.
    kept: Vec<usize>,
    /// How many are left out at a time; 0 once elements get simpler.
    part: usize,
    /// The next part's place in `kept`, or the next element's.
    next: usize,
    last: Change,
}

enum Change {
    None,
    /// These were left out, from `next` on.
    LeftOut(Vec<usize>),
    /// The element at `next` got simpler.
    Simpler,
}

impl<S: Strategy> Strategy for List<S> {
    type Tree = ListTree<S::Tree>;
    type Value = Vec<S::Value>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let all = 0..self.length;
        let elements = all.map(|_| self.element.new_tree(runner));
        Ok(ListTree {
            elements: elements.collect::<Result<_, _>>()?,
            kept: (0..self.length).collect(),
            part: self.length.div_ceil(2),
            next: 0,
            last: Change::None,
        })
    }
}

impl<T: ValueTree> ValueTree for ListTree<T>
where
    T::Value: Debug,
{
    type Value = Vec<T::Value>;

    fn current(&self) -> Vec<T::Value> {
        let kept = self.kept.iter();
        kept.map(|index| self.elements[*index].current()).collect()
    }

    fn simplify(&mut self) -> bool {
        while self.part > 0 {
            if self.next < self.kept.len() {
                let end = self.kept.len().min(self.next + self.part);
                let out = self.kept.drain(self.next..end).collect();
                self.last = Change::LeftOut(out);
                return true;
            }
            self.next = 0;
            self.part /= 2;
        }
        while self.next < self.kept.len() {
            if self.elements[self.kept[self.next]].simplify() {
                self.last = Change::Simpler;
                return true;
            }
            self.next += 1;
        }
        self.last = Change::None;
        false
    }

    fn complicate(&mut self) -> bool {
        match std::mem::replace(&mut self.last, Change::None) {
            Change::None => false,
            Change::LeftOut(out) => {
                let count = out.len();
                self.kept.splice(self.next..self.next, out);
                self.next += count;
                true
            }
            Change::Simpler => {
                if self.elements[self.kept[self.next]].complicate() {
                    self.last = Change::Simpler;
                } else {
                    // It's as it was: there's more in the others.
                    self.next += 1;
                }
                true
            }
        }
    }
}
