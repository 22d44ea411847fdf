//! Trees in host memory: what is spread over devices, and what a state is saved as.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use crate::brief::{brief, brief_debug};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::host_array::HostArray;
use crate::memory::Place;
use crate::shape::Shape;
use crate::sharding::Block;
use crate::tree::{type_name, Source, Structure, Tree};

/// The values of a tree `T` in host memory: an array for each of its buffers. A batch that
/// goes to devices, or a state that came from them, to be saved and restored.
///
/// ```
/// use xla::{Buffer, Client, HostArray, HostTree, Tree};
///
/// #[derive(Tree)]
/// struct Batch {
///     images: Buffer,
///     labels: Buffer,
/// }
///
/// # fn main() -> xla::Result<()> {
/// let (pixels, digits) = ([0.5f32; 6], [7, 1, 4]);
/// let batch = HostTree::<Batch>::new([
///     HostArray::borrowed(&pixels, &[3, 2])?,
///     HostArray::borrowed(&digits, &[3])?,
/// ])?;
/// let client = Client::cpu()?;
/// let batch: Batch = batch.to_device(&client.device(0)?)?;
/// assert_eq!(batch.labels.to_host::<i32>()?, digits);
/// # Ok(())
/// # }
/// ```
pub struct HostTree<'a, T> {
    leaves: Vec<HostArray<'a>>,
    structure: Structure,
    tree: PhantomData<fn() -> T>,
}

impl<'a, T: Tree> HostTree<'a, T> {
    /// A tree from its leaves, in the order of [`Tree`].
    ///
    /// # Errors
    /// There are more or fewer than `T` has; how `T` is built is known at run time only
    /// (`Vec`, `Option`, maps): see [`HostTree::with_structure`].
    pub fn new(leaves: impl IntoIterator<Item = HostArray<'a>>) -> Result<HostTree<'a, T>> {
        HostTree::with_structure(known_structure::<T>()?, leaves)
    }

    /// A tree of a given structure from its leaves.
    ///
    /// # Errors
    /// There are more or fewer leaves than the structure has.
    pub fn with_structure(
        structure: Structure,
        leaves: impl IntoIterator<Item = HostArray<'a>>,
    ) -> Result<HostTree<'a, T>> {
        let leaves: Vec<HostArray<'a>> = leaves.into_iter().collect();
        if leaves.len() != structure.leaf_count() {
            return Err(Error::invalid(format!(
                "{} given for a tree of {}: {}",
                match leaves.len() {
                    1 => "1 array was".to_owned(),
                    count => format!("{count} arrays were"),
                },
                match structure.leaf_count() {
                    1 => "1 leaf".to_owned(),
                    count => format!("{count} leaves"),
                },
                brief_debug(&structure)
            )));
        }
        Ok(HostTree {
            leaves,
            structure,
            tree: PhantomData,
        })
    }

    /// The leaves, in order.
    pub fn leaves(&self) -> &[HostArray<'a>] {
        &self.leaves
    }

    /// The leaves by value, in order.
    pub fn into_leaves(self) -> Vec<HostArray<'a>> {
        self.leaves
    }

    /// How the tree is built.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The leaves with their paths below `root`, such as `state.params.w1`: to save them
    /// by name.
    pub fn named_leaves(&self, root: &str) -> Vec<(String, &HostArray<'a>)> {
        let paths = self.structure.paths(root);
        paths.into_iter().zip(&self.leaves).collect()
    }

    /// A tree from leaves with the names of [`HostTree::named_leaves`], in any order: what was
    /// saved.
    ///
    /// ```
    /// use xla::{Buffer, HostArray, HostTree};
    ///
    /// # fn main() -> xla::Result<()> {
    /// let pair = HostTree::<(Buffer, Buffer)>::new([HostArray::scalar(1)?, HostArray::scalar(2)?])?;
    /// let mut saved: Vec<_> = pair.named_leaves("pair");
    /// saved.reverse();
    /// let saved = saved.into_iter().map(|(name, leaf)| (name, leaf.clone()));
    /// assert_eq!(HostTree::from_named_leaves("pair", saved)?, pair);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// One is missing, there twice, or no leaf of `T`: names it; how `T` is built is known at
    /// run time only.
    pub fn from_named_leaves(
        root: &str,
        leaves: impl IntoIterator<Item = (String, HostArray<'a>)>,
    ) -> Result<HostTree<'a, T>> {
        let structure = known_structure::<T>()?;
        let mut named = HashMap::new();
        for (name, leaf) in leaves {
            if let Some((name, _)) = named.remove_entry(&name) {
                return Err(Error::invalid(format!("`{name}` is there twice")));
            }
            named.insert(name, leaf);
        }
        let paths = structure.paths(root).into_iter();
        let found = paths.map(|path| {
            let leaf = named.remove(&path);
            leaf.ok_or_else(|| Error::invalid(format!("there is no `{path}`")))
        });
        let found = found.collect::<Result<Vec<_>>>()?;
        if let Some(name) = named.keys().min() {
            return Err(Error::invalid(format!(
                "`{}` is no leaf of `{root}`, which is {}",
                brief(name),
                brief_debug(&structure)
            )));
        }
        HostTree::with_structure(structure, found)
    }

    /// The size of all leaves in bytes.
    pub fn byte_size(&self) -> usize {
        let sizes = self.leaves.iter().map(|leaf| leaf.shape().byte_size());
        sizes.sum()
    }

    /// Copies the tree to a device or memory.
    ///
    /// # Errors
    /// As [`Buffer::from_bytes`], naming the leaf.
    pub fn to_device(&self, place: impl Into<Place>) -> Result<T> {
        let place = place.into();
        self.build(|leaf| leaf.to_device(place.clone()))
    }

    /// The tree with memory of its own.
    pub fn into_owned(self) -> HostTree<'static, T> {
        let leaves = self.leaves.into_iter().map(HostArray::into_owned);
        HostTree {
            leaves: leaves.collect(),
            structure: self.structure,
            tree: PhantomData,
        }
    }

    /// The tree cut into `parts` equal ones along an axis that all leaves have, such as
    /// micro-batches for gradients that are summed up. Along axis 0 nothing is copied.
    ///
    /// # Errors
    /// A leaf doesn't have the axis, or its size isn't divisible by `parts`: names the leaf,
    /// the axis, its size, the parts and the remainder. `parts` is 0.
    pub fn split(&self, axis: usize, parts: usize) -> Result<Vec<HostTree<'_, T>>> {
        if parts == 0 {
            return Err(Error::invalid("a tree can't be cut into 0 parts"));
        }
        // The first part tells of what doesn't divide, before room is made for all.
        self.map_leaves(|leaf| leaf.part_along(axis, parts, 0))?;
        (0..parts)
            .map(|part| self.map_leaves(|leaf| leaf.part_along(axis, parts, part)))
            .collect()
    }

    /// The tree with bytes of zero at the end of an axis that all leaves have, so that its size
    /// becomes a multiple of `multiple`; and which of the places along the axis are real: a
    /// `pred` vector. Nothing is copied where no zeros are missing.
    ///
    /// # Errors
    /// A leaf doesn't have the axis; the leaves have different sizes along it; `multiple` is 0;
    /// there is no memory for it.
    pub fn pad(
        &self,
        axis: usize,
        multiple: usize,
    ) -> Result<(HostTree<'_, T>, HostArray<'static>)> {
        let size = self.size_along(axis)?;
        if multiple == 0 {
            return Err(Error::invalid("no size is a multiple of 0"));
        }
        let padded = size.checked_next_multiple_of(multiple).ok_or_else(|| {
            Error::invalid(format!("{size} has no multiple of {multiple} above it"))
        })?;
        let tree = self.map_leaves(|leaf| {
            if padded == size {
                return Ok(leaf.as_borrowed());
            }
            let mut dims = leaf.dims().to_vec();
            dims[axis] = padded;
            let mut larger = HostArray::try_zeros(Shape::new(leaf.element_type(), &dims)?)?;
            larger.put(&Block::whole(leaf.shape()), leaf);
            Ok(larger)
        })?;
        let mut mask = HostArray::try_zeros(Shape::of::<bool>(&[padded])?)?;
        let real = HostArray::new(&vec![true; size], &[size])?;
        mask.put(&Block::whole(real.shape()), &real);
        Ok((tree, mask))
    }

    /// The size that all leaves have along an axis.
    fn size_along(&self, axis: usize) -> Result<usize> {
        let mut first = None;
        for (index, leaf) in self.leaves.iter().enumerate() {
            let size = leaf.size_along(axis).map_err(|e| self.at(index, e))?;
            match first {
                None => first = Some((index, size)),
                Some((_, known)) if known == size => {}
                Some((of, known)) => {
                    return Err(Error::invalid(format!(
                        "{} has {known} along axis {axis}, but {} has {size}",
                        self.structure.describe_leaf(of),
                        self.structure.describe_leaf(index)
                    )))
                }
            }
        }
        match first {
            Some((_, size)) => Ok(size),
            None => Err(Error::invalid("a tree without leaves has no axis")),
        }
    }

    /// A tree of the same structure, leaf by leaf; failures name the leaf.
    pub(crate) fn map_leaves<'b>(
        &'b self,
        map: impl Fn(&'b HostArray<'a>) -> Result<HostArray<'b>>,
    ) -> Result<HostTree<'b, T>> {
        let leaves = self.leaves.iter().enumerate();
        let leaves = leaves.map(|(index, leaf)| map(leaf).map_err(|e| self.at(index, e)));
        Ok(HostTree {
            leaves: leaves.collect::<Result<_>>()?,
            structure: self.structure.clone(),
            tree: PhantomData,
        })
    }

    /// The tree of buffers that `make` gives for each leaf.
    pub(crate) fn build(&self, make: impl Fn(&HostArray<'a>) -> Result<Buffer>) -> Result<T> {
        // With room for all: a list that grows is moved again and again.
        let mut buffers = Vec::with_capacity(self.leaves.len());
        for (index, leaf) in self.leaves.iter().enumerate() {
            buffers.push(make(leaf).map_err(|e| self.at(index, e))?);
        }
        Source::new(&mut buffers.into_iter(), &self.structure).finish()
    }

    /// A failure at a leaf, with its path.
    pub(crate) fn at(&self, leaf: usize, error: Error) -> Error {
        error.context(self.structure.describe_leaf(leaf))
    }
}

impl<T: Tree> HostTree<'static, T> {
    /// Copies a tree to the host and waits for it.
    ///
    /// # Errors
    /// The run that was to fill a leaf failed: names the leaf.
    pub fn read(tree: &T) -> Result<HostTree<'static, T>> {
        let structure = tree.structure();
        let leaves = tree.leaves("").into_iter().enumerate();
        let leaves = leaves.map(|(index, (_, leaf))| {
            HostArray::read(leaf).map_err(|error| error.context(structure.describe_leaf(index)))
        });
        let leaves = leaves.collect::<Result<Vec<_>>>()?;
        HostTree::with_structure(structure, leaves)
    }
}

fn known_structure<T: Tree>() -> Result<Structure> {
    T::constant_structure().ok_or_else(|| {
        Error::invalid(format!(
            "how a `{}` is built is known at run time only; say it with `with_structure`",
            type_name::<T>()
        ))
    })
}

/// A single buffer's values are a tree.
impl<'a> From<HostArray<'a>> for HostTree<'a, Buffer> {
    fn from(array: HostArray<'a>) -> Self {
        HostTree {
            leaves: vec![array],
            structure: Structure::leaf(),
            tree: PhantomData,
        }
    }
}

impl<T> Clone for HostTree<'_, T> {
    fn clone(&self) -> Self {
        HostTree {
            leaves: self.leaves.clone(),
            structure: self.structure.clone(),
            tree: PhantomData,
        }
    }
}

/// Equal when structures, shapes and bytes are.
impl<T> PartialEq for HostTree<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.structure == other.structure && self.leaves == other.leaves
    }
}

impl<T> fmt::Debug for HostTree<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shapes = self.leaves.iter().map(HostArray::shape);
        f.debug_list().entries(shapes).finish()
    }
}
