//! Trees of buffers: a whole model, optimizer state or batch as one argument.
//!
//! A tree is flattened into its leaves, which are buffers, and rebuilt from them. The
//! order of leaves is the one that JAX has for the same structure, so that an exported
//! program's flat arguments fit: fields of a struct in the order of their declaration
//! (JAX: named tuples and registered dataclasses; `#[tree(sorted)]`: by name, as in a
//! dict), elements of tuples, arrays and `Vec`s in theirs, entries of a map by key,
//! nothing for `None` and `()`.

mod containers;
mod known;
mod source;
mod structure;

pub(crate) use known::type_name;
pub use known::Known;
pub use source::Source;
pub use structure::{Key, Structure};

use crate::argument::ArgumentList;
use crate::buffer::Buffer;
use crate::error::Result;

/// A value made of buffers: a [`Buffer`], or a struct, tuple, array, `Vec`, `Option`,
/// `Box` or map of trees.
///
/// Derive it for structs of one's own:
///
/// ```
/// use xla::{Buffer, Tree};
///
/// #[derive(Tree)]
/// struct Layer {
///     weights: Buffer,
///     bias: Option<Buffer>,
/// }
/// ```
///
/// An implementation by hand is safe: counts and shapes are compared when a program is
/// called, whatever the tree says of itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tree of buffers",
    label = "not a `Tree`",
    note = "derive `Tree` for it, or mark the field `#[tree(skip)]` if it holds no buffers"
)]
pub trait Tree: Sized + 'static {
    /// How many leaves every value of the type has; `None` where that is known only at run
    /// time, as for `Vec`, `Option` and maps.
    const LEAVES: Option<usize>;

    /// How this value is built, with the names of its parts.
    fn structure(&self) -> Structure;

    /// How every value of the type is built; `None` where that is known only at run time.
    fn constant_structure() -> Option<Structure>;

    /// How a result of the type is built, when the arguments of the call are built as `known`
    /// says.
    ///
    /// By default as its type tells, else like the argument of the same type.
    ///
    /// # Errors
    /// Neither tells.
    fn expected(known: &Known<'_>) -> Result<Structure> {
        match Self::constant_structure() {
            Some(structure) => Ok(structure),
            None => known.of::<Self>(),
        }
    }

    /// The leaves with their paths below `root`, in order: to save, look at or wait for a whole
    /// tree.
    ///
    /// ```
    /// # fn main() -> xla::Result<()> {
    /// use xla::{Buffer, Client, Tree};
    ///
    /// let client = Client::cpu()?;
    /// let device = client.device(0)?;
    /// let pair = (Buffer::scalar(&device, 1f32)?, [Buffer::scalar(&device, 2f32)?]);
    /// for (path, leaf) in pair.leaves("pair") {
    ///     println!("{path} = {}", leaf.to_scalar::<f32>()?);
    /// }
    /// let paths: Vec<String> = pair.leaves("pair").into_iter().map(|(path, _)| path).collect();
    /// assert_eq!(paths, ["pair[0]", "pair[1][0]"]);
    /// # Ok(())
    /// # }
    /// ```
    fn leaves(&self, root: &str) -> Vec<(String, &Buffer)> {
        let mut list = ArgumentList::new();
        self.lend(&mut list);
        let mut paths = self.structure().paths(root).into_iter();
        list.lent()
            .enumerate()
            // A tree written by hand may tell of fewer paths than it has leaves.
            .map(|(index, leaf)| {
                (
                    paths.next().unwrap_or_else(|| format!("{root}#{index}")),
                    leaf,
                )
            })
            .collect()
    }

    /// A second tree with the same values, each leaf copied by
    /// [`Buffer::copy_on_device`]. Waits for the values.
    ///
    /// # Errors
    /// As [`Buffer::copy_on_device`] and [`Tree::rebuild`].
    #[doc(alias = "clone")]
    fn copy_on_device(&self) -> Result<Self> {
        let copies = self
            .leaves("")
            .into_iter()
            .map(|(_, leaf)| leaf.copy_on_device());
        let copies = copies.collect::<Result<Vec<_>>>()?;
        Source::new(&mut copies.into_iter(), &self.structure()).finish()
    }

    /// Gives up the leaves, in order.
    fn give(self, leaves: &mut ArgumentList<'_>);

    /// Lends the leaves, in the same order.
    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>);

    /// Builds a value from leaves, taken in the same order.
    ///
    /// # Errors
    /// The leaves run out, or the structure is another type's.
    fn rebuild(source: &mut Source<'_>) -> Result<Self>;
}

impl Tree for Buffer {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    #[inline]
    fn give(self, leaves: &mut ArgumentList<'_>) {
        leaves.push(self);
    }

    #[inline]
    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        leaves.push(self);
    }

    #[inline]
    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        source.leaf()
    }
}

/// The leaves of parts together; `None` where one isn't known. For derived code.
pub const fn sum(parts: &[Option<usize>]) -> Option<usize> {
    let mut total = 0;
    let mut index = 0;
    while index < parts.len() {
        match parts[index] {
            Some(leaves) => total += leaves,
            None => return None,
        }
        index += 1;
    }
    Some(total)
}
