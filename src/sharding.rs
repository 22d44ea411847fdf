//! How an array is spread over the partitions of a program.

mod named;
mod stated;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::signature::plural;

pub(crate) use stated::{of_inputs, of_outputs};

/// How one array is spread over the partitions of a program: held whole by each of them, or cut
/// into equal tiles, of which each partition holds one (`OpSharding` of XLA). Partitions are
/// counted within a replica, from 0.
///
/// Two are equal when every partition holds the same part of an array.
///
/// ```
/// use xla::{Shape, Sharding};
///
/// // Rows 0 to 3 on partition 0, rows 4 to 7 on partition 1.
/// let by_row = Sharding::split(0, 2);
/// let block = by_row.block(&Shape::of::<f32>(&[8, 3])?, 1)?;
/// assert_eq!((block.start, block.dims), (vec![4, 0], vec![4, 3]));
/// // As XLA writes it.
/// assert_eq!(by_row.to_string(), "{devices=[2]<=[2]}");
/// # Ok::<(), xla::Error>(())
/// ```
#[derive(Clone)]
pub struct Sharding {
    spread: Spread,
}

#[derive(Clone, PartialEq, Eq)]
enum Spread {
    /// Every partition has all of it.
    Whole,
    /// Every partition has room for all of it, and the values are those of this one.
    Only(usize),
    Tiled {
        /// How many parts there are along each of the first axes; the others are whole.
        tiles: Vec<usize>,
        /// Who holds each tile, row-major over the tiles. Those that hold the same one stand
        /// together, in order.
        holders: Vec<usize>,
    },
}

/// The box of an array that a partition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its first index along each axis.
    pub start: Vec<usize>,
    /// Its size along each axis.
    pub dims: Vec<usize>,
}

impl Block {
    /// All of an array.
    pub(crate) fn whole(shape: &Shape) -> Block {
        Block {
            start: vec![0; shape.rank()],
            dims: shape.dims().to_vec(),
        }
    }
}

impl Sharding {
    /// Every partition holds all of the array.
    pub fn replicated() -> Sharding {
        Sharding {
            spread: Spread::Whole,
        }
    }

    /// The array is cut into `parts` along one axis; partition `i` holds the `i`-th part. With
    /// one part, or none, it isn't cut.
    pub fn split(axis: usize, parts: usize) -> Sharding {
        if parts <= 1 {
            return Sharding::replicated();
        }
        let mut tiles = vec![1; axis];
        tiles.push(parts);
        let holders = (0..parts).collect();
        Sharding {
            spread: Spread::Tiled { tiles, holders },
        }
    }

    /// The array is cut into `tiles[axis]` parts along each axis; axes that aren't listed stay
    /// whole. Tile `t`, counted row-major, is held by `partitions[t * copies..][..copies]`, where
    /// `copies` is how many partitions there are for each tile.
    ///
    /// ```
    /// # use xla::Sharding;
    /// // Four tiles of a matrix, each on two of eight partitions.
    /// let sharding = Sharding::tiled(&[2, 2], &[0, 4, 1, 5, 2, 6, 3, 7])?;
    /// assert_eq!(
    ///     sharding.to_string(),
    ///     "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}"
    /// );
    /// # Ok::<(), xla::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number of tiles is 0; the number of partitions is no multiple of the number of tiles;
    /// the list doesn't have each of the partitions from 0 up once.
    pub fn tiled(tiles: &[usize], partitions: &[usize]) -> Result<Sharding> {
        let count = partitions.len();
        let parts = tiles
            .iter()
            .try_fold(1usize, |all, parts| all.checked_mul(*parts));
        let parts = parts.filter(|parts| *parts > 0 && count > 0 && count % parts == 0);
        let Some(parts) = parts else {
            return Err(Error::invalid(format!(
                "a sharding into {tiles:?} tiles can't have {}; it needs a multiple of the number of \
                 tiles",
                plural(count, "partition")
            )));
        };
        let mut holders = partitions.to_vec();
        holders.sort_unstable();
        if let Some((wanted, got)) = (0..count).zip(&holders).find(|(i, got)| i != *got) {
            return Err(Error::invalid(format!(
                "a sharding over {count} partitions must name each of 0 to {} once, but {} in \
                 {partitions:?}",
                count - 1,
                if *got < wanted {
                    format!("{got} is twice")
                } else {
                    format!("{wanted} isn't")
                }
            )));
        }
        if parts == 1 {
            return Ok(Sharding::replicated());
        }
        holders.copy_from_slice(partitions);
        for copies in holders.chunks_exact_mut(count / parts) {
            copies.sort_unstable();
        }
        Ok(Sharding {
            spread: Spread::Tiled {
                tiles: tiles.to_vec(),
                holders,
            },
        })
    }

    /// Whether every partition holds all of the array.
    pub fn is_replicated(&self) -> bool {
        self.spread == Spread::Whole
    }

    /// Into how many parts an array of `rank` axes is cut along each of them.
    ///
    /// # Errors
    /// The sharding is one of arrays with more axes.
    pub fn tiles(&self, rank: usize) -> Result<Vec<usize>> {
        let Spread::Tiled { tiles, .. } = &self.spread else {
            return Ok(vec![1; rank]);
        };
        if tiles.len() > rank {
            return Err(Error::invalid(format!(
                "the sharding {self} is for arrays of {} or more, got one of {rank}",
                plural(tiles.len(), "dimension"),
            )));
        }
        let mut tiles = tiles.clone();
        tiles.resize(rank, 1);
        Ok(tiles)
    }

    /// The shape on each partition of an array that has the shape `global` over all of them.
    ///
    /// # Errors
    /// The sharding is one of arrays with more axes; an axis can't be cut into equal parts.
    pub fn local_shape(&self, global: &Shape) -> Result<Shape> {
        let tiles = self.tiles(global.rank())?;
        let axes = global.dims().iter().zip(&tiles).enumerate();
        let dims: Vec<usize> = axes
            .map(|(axis, (size, parts))| {
                if size % parts == 0 {
                    return Ok(size / parts);
                }
                Err(uneven(global, axis, *parts))
            })
            .collect::<Result<_>>()?;
        Shape::new(global.element_type(), &dims)
    }

    /// The shape over all partitions of an array that has the shape `local` on each.
    ///
    /// # Errors
    /// The sharding is one of arrays with more axes; the whole has more elements or bytes than
    /// an `i64` counts.
    pub fn global_shape(&self, local: &Shape) -> Result<Shape> {
        let tiles = self.tiles(local.rank())?;
        let axes = local.dims().iter().zip(&tiles);
        // Saturated, it is refused as too large.
        let dims: Vec<usize> = axes
            .map(|(size, parts)| size.saturating_mul(*parts))
            .collect();
        Shape::new(local.element_type(), &dims)
    }

    /// The box of an array with the shape `global` that a partition holds.
    ///
    /// # Errors
    /// As [`Sharding::local_shape`]; there is no such partition.
    pub fn block(&self, global: &Shape, partition: usize) -> Result<Block> {
        let local = self.local_shape(global)?;
        let mut start = vec![0; global.rank()];
        if let Spread::Tiled { tiles, holders } = &self.spread {
            let place = holders.iter().position(|holder| *holder == partition);
            let Some(place) = place else {
                return Err(Error::invalid(format!(
                    "the sharding {self} has the partitions 0 to {}, got {partition}",
                    holders.len() - 1
                )));
            };
            let mut tile = place / self.copies();
            for axis in (0..tiles.len()).rev() {
                start[axis] = tile % tiles[axis] * local.dims()[axis];
                tile /= tiles[axis];
            }
        }
        Ok(Block {
            start,
            dims: local.dims().to_vec(),
        })
    }

    /// Each different box of an array with the shape `global`, with the first partition that
    /// holds it: together they are the array. In row-major order.
    ///
    /// # Errors
    /// As [`Sharding::local_shape`]; the sharding is not one over `partitions` partitions.
    pub fn distinct(&self, global: &Shape, partitions: usize) -> Result<Vec<(Block, usize)>> {
        self.check_partitions(partitions)?;
        let firsts: Vec<usize> = match &self.spread {
            Spread::Whole => vec![0],
            Spread::Only(holder) => vec![*holder],
            Spread::Tiled { holders, .. } => {
                holders.iter().step_by(self.copies()).copied().collect()
            }
        };
        let blocks = firsts.into_iter();
        blocks
            .map(|partition| Ok((self.block(global, partition)?, partition)))
            .collect()
    }

    /// Refuses another number of partitions than it has.
    fn check_partitions(&self, partitions: usize) -> Result<()> {
        let fits = match &self.spread {
            Spread::Whole => partitions > 0,
            Spread::Only(holder) => *holder < partitions,
            Spread::Tiled { holders, .. } => holders.len() == partitions,
        };
        if fits {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the sharding {self} is none over {}",
            plural(partitions, "partition")
        )))
    }

    /// How many partitions hold the same tile.
    fn copies(&self) -> usize {
        match &self.spread {
            Spread::Tiled { tiles, holders } => holders.len() / tiles.iter().product::<usize>(),
            _ => 1,
        }
    }
}

/// Says that an axis can't be cut into so many equal parts.
pub(crate) fn uneven(global: &Shape, axis: usize, parts: usize) -> Error {
    let size = global.dims()[axis];
    Error::invalid(format!(
        "axis {axis} of {global} has the size {size}, which can't be cut into {parts} equal parts: \
         the remainder is {}; make it a multiple of {parts}, or fill it up with `HostTree::pad` or \
         `PerDevice::shard_padded`",
        size.checked_rem(parts).unwrap_or(size)
    ))
}

impl PartialEq for Sharding {
    fn eq(&self, other: &Sharding) -> bool {
        match (&self.spread, &other.spread) {
            (
                Spread::Tiled { tiles, holders },
                Spread::Tiled {
                    tiles: other_tiles,
                    holders: other_holders,
                },
            ) => {
                let rank = tiles.len().max(other_tiles.len());
                let at = |tiles: &[usize], axis: usize| tiles.get(axis).copied().unwrap_or(1);
                holders == other_holders
                    && (0..rank).all(|axis| at(tiles, axis) == at(other_tiles, axis))
            }
            (one, other) => one == other,
        }
    }
}

impl Eq for Sharding {}

/// As XLA writes it.
impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tiles, holders) = match &self.spread {
            Spread::Whole => return f.write_str("{replicated}"),
            Spread::Only(holder) => return write!(f, "{{maximal device={holder}}}"),
            Spread::Tiled { tiles, holders } => (tiles, holders),
        };
        let copies = self.copies();
        let mut dims = tiles.clone();
        if copies > 1 {
            dims.push(copies);
        }
        write!(f, "{{devices=[{}]", Listed(&dims))?;
        let count = holders.len();
        // Counted up along the rows of a matrix of partitions, read column by column.
        let counted = |columns: usize| {
            let rows = count / columns;
            let column_by_column = (0..count).map(|i| i % rows * columns + i / rows);
            column_by_column.eq(holders.iter().copied())
        };
        let mut widths = (2..count).filter(|columns| count % columns == 0);
        if holders.iter().copied().eq(0..count) {
            write!(f, "<=[{count}]")?;
        } else if let Some(columns) = widths.find(|columns| counted(*columns)) {
            write!(f, "<=[{},{columns}]T(1,0)", count / columns)?;
        } else {
            write!(f, "{}", Listed(holders))?;
        }
        let replicate = if copies > 1 {
            " last_tile_dim_replicate"
        } else {
            ""
        };
        write!(f, "{replicate}}}")
    }
}

/// Numbers with commas between them.
struct Listed<'a>(&'a [usize]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{number}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sharding({self})")
    }
}
