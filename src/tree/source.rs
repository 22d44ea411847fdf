//! Rebuilding.

use std::any::TypeId;

use super::{Structure, Tree};
use crate::buffer::Buffer;
use crate::error::{Code, Error, Result};

/// The leaves that a tree is rebuilt from, and what is known of its structure.
pub struct Source<'s> {
    leaves: &'s mut dyn Iterator<Item = Buffer>,
    taken: usize,
    /// The structure of what is being rebuilt, where it is known.
    structure: Option<&'s Structure>,
    /// Structures of other trees, by type: a result of an argument's type is built like it.
    known: &'s [(TypeId, Structure)],
}

impl<'s> Source<'s> {
    /// Leaves for a tree of which no more is known than its type tells.
    pub fn new(leaves: &'s mut dyn Iterator<Item = Buffer>) -> Source<'s> {
        Source {
            leaves,
            taken: 0,
            structure: None,
            known: &[],
        }
    }

    /// Leaves for a tree of this structure.
    pub fn with_structure(
        leaves: &'s mut dyn Iterator<Item = Buffer>,
        structure: &'s Structure,
    ) -> Source<'s> {
        Source {
            structure: Some(structure),
            ..Source::new(leaves)
        }
    }

    pub(crate) fn like(
        leaves: &'s mut dyn Iterator<Item = Buffer>,
        structure: Option<&'s Structure>,
        known: &'s [(TypeId, Structure)],
    ) -> Source<'s> {
        Source {
            structure,
            known,
            ..Source::new(leaves)
        }
    }

    /// The next leaf.
    ///
    /// # Errors
    /// There is none left.
    pub fn leaf(&mut self) -> Result<Buffer> {
        let leaf = self.leaves.next().ok_or_else(|| {
            Error::new(
                Code::OutOfRange,
                format!(
                    "a tree wants more than the {} leaves that there are",
                    self.taken
                ),
            )
        })?;
        self.taken += 1;
        Ok(leaf)
    }

    /// The structure of what is being rebuilt.
    ///
    /// # Errors
    /// It isn't known; `what` is the type that needs it.
    pub fn structure(&self, what: &str) -> Result<&'s Structure> {
        self.structure.ok_or_else(|| {
            Error::new(
                Code::FailedPrecondition,
                format!(
                    "the structure of a `{what}` is known at run time only, and no argument has the \
                     type that contains it; give the results' structure with `results_like`"
                ),
            )
        })
    }

    /// Rebuilds a part: the `index`-th of the node, in leaf order.
    ///
    /// # Errors
    /// As [`Tree::rebuild`]; the structure has no such part.
    pub fn enter<T: Tree>(
        &mut self,
        index: usize,
        rebuild: impl FnOnce(&mut Source<'_>) -> Result<T>,
    ) -> Result<T> {
        let outer = self.structure;
        self.structure = match outer {
            Some(structure) => {
                let child = structure.children().get(index).map(|(_, child)| child);
                Some(child.ok_or_else(|| {
                    Error::new(
                        Code::OutOfRange,
                        format!("the structure {structure:?} has no part {index}"),
                    )
                })?)
            }
            None => self.known_structure::<T>(),
        };
        let rebuilt = rebuild(self);
        self.structure = outer;
        rebuilt
    }

    pub(crate) fn known_structure<T: Tree>(&self) -> Option<&'s Structure> {
        let known = self
            .known
            .iter()
            .find(|(known, _)| *known == TypeId::of::<T>());
        known.map(|(_, structure)| structure)
    }

    /// Rebuilds a whole tree, which must take all leaves.
    pub(crate) fn finish<T: Tree>(mut self) -> Result<T> {
        if self.structure.is_none() {
            self.structure = self.known_structure::<T>();
        }
        let tree = T::rebuild(&mut self)?;
        let left = self.leaves.count();
        if left > 0 {
            return Err(Error::new(
                Code::OutOfRange,
                format!(
                    "a tree took {} leaves, but there were {left} more",
                    self.taken
                ),
            ));
        }
        Ok(tree)
    }
}
