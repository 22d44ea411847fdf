//! Rebuilding.

use super::{Key, Structure, Tree};
use crate::brief::brief_debug;
use crate::buffer::Buffer;
use crate::error::{Code, Error, Result};

/// The leaves that a tree is rebuilt from, and how it is built.
pub struct Source<'s> {
    leaves: &'s mut dyn ExactSizeIterator<Item = Buffer>,
    count: usize,
    taken: usize,
    /// That of what is being rebuilt.
    structure: &'s Structure,
}

impl<'s> Source<'s> {
    /// Leaves for a tree of this structure.
    pub fn new(
        leaves: &'s mut dyn ExactSizeIterator<Item = Buffer>,
        structure: &'s Structure,
    ) -> Source<'s> {
        Source {
            count: leaves.len(),
            leaves,
            taken: 0,
            structure,
        }
    }

    /// As [`Source::new`], of leaves whose type is known.
    #[inline]
    pub(crate) fn of(
        leaves: &'s mut impl ExactSizeIterator<Item = Buffer>,
        structure: &'s Structure,
    ) -> Source<'s> {
        Source {
            count: leaves.len(),
            leaves,
            taken: 0,
            structure,
        }
    }

    /// The next leaf.
    ///
    /// # Errors
    /// There is none left.
    #[inline]
    pub fn leaf(&mut self) -> Result<Buffer> {
        match self.leaves.next() {
            Some(leaf) => {
                self.taken += 1;
                Ok(leaf)
            }
            None => Err(self.exhausted()),
        }
    }

    #[cold]
    fn exhausted(&self) -> Error {
        Error::new(
            Code::OutOfRange,
            format!(
                "a tree wants more than the {} leaves that there are",
                self.taken
            ),
        )
    }

    /// How what is being rebuilt is built.
    #[inline]
    pub fn structure(&self) -> &'s Structure {
        self.structure
    }

    /// The parts of a node of this name.
    pub(crate) fn children_of(&self, name: &str) -> Result<&'s [(Key, Structure)]> {
        if self.structure.name() == Some(name) {
            return Ok(self.structure.children());
        }
        Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "the structure of a {name} was wanted, not {}",
                brief_debug(self.structure)
            ),
        ))
    }

    /// Rebuilds a part: the `index`-th of the node, in leaf order.
    ///
    /// # Errors
    /// As [`Tree::rebuild`]; the structure has no such part.
    #[inline]
    pub fn enter<T>(
        &mut self,
        index: usize,
        rebuild: impl FnOnce(&mut Source<'_>) -> Result<T>,
    ) -> Result<T> {
        let outer = self.structure;
        let child = outer.children().get(index).map(|(_, child)| child);
        self.structure = child.ok_or_else(|| {
            Error::new(
                Code::OutOfRange,
                format!("the structure {} has no part {index}", brief_debug(outer)),
            )
        })?;
        let rebuilt = rebuild(self);
        self.structure = outer;
        rebuilt
    }

    /// Rebuilds a whole tree, which must take all leaves.
    ///
    /// # Errors
    /// As [`Tree::rebuild`]; leaves are left.
    #[inline]
    pub fn finish<T: Tree>(mut self) -> Result<T> {
        let tree = T::rebuild(&mut self)?;
        self.exhaust()?;
        Ok(tree)
    }

    /// Refuses leaves that are left.
    #[inline]
    pub(crate) fn exhaust(&self) -> Result<()> {
        if self.taken == self.count {
            return Ok(());
        }
        Err(self.left_over())
    }

    #[cold]
    fn left_over(&self) -> Error {
        Error::new(
            Code::OutOfRange,
            format!(
                "a tree took {} leaves, but there were {} more",
                self.taken,
                self.leaves.len()
            ),
        )
    }
}
