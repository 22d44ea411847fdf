//! What a compiled program states of its shardings, in XLA's `OpSharding`.

use prost::encoding::{decode_key, skip_field, DecodeContext};
use prost::Message;

use super::{named, Sharding, Spread};
use crate::hlo;
use crate::proto::OpShardingProto;

/// `OpSharding.Type`.
const REPLICATED: i32 = 0;
const MAXIMAL: i32 = 1;
const OTHER: i32 = 3;

/// The highest field of an `OpSharding` that is known.
const FIELDS: u32 = 14;

/// The most that the sharding of one array takes: numbers of a million devices. A message that
/// is longer isn't read, since reading can take a hundred times as much.
const MOST_BYTES: usize = 4 << 20;

/// The sharding of each input, given how many axes each has. `None` where the program states
/// none, or one of a form that isn't known.
pub(crate) fn of_inputs(
    module: &hlo::Module<'_>,
    partitions: usize,
    ranks: &[usize],
) -> Vec<Option<Sharding>> {
    of_all(module.parameter_shardings(), partitions, ranks)
}

/// The sharding of each output; see [`of_inputs`].
pub(crate) fn of_outputs(
    module: &hlo::Module<'_>,
    partitions: usize,
    ranks: &[usize],
) -> Vec<Option<Sharding>> {
    let Some(stated) = module.output_sharding else {
        return of_all(std::iter::empty(), partitions, ranks);
    };
    match hlo::tuple_sharding(stated) {
        Some(parts) => of_all(parts, partitions, ranks),
        // One that is no tuple's is that of each element.
        None => of_all(ranks.iter().map(|_| stated), partitions, ranks),
    }
}

fn of_all<'a>(
    stated: impl Iterator<Item = &'a [u8]> + Clone,
    partitions: usize,
    ranks: &[usize],
) -> Vec<Option<Sharding>> {
    if partitions == 1 {
        return vec![Some(Sharding::replicated()); ranks.len()];
    }
    // Another number of them, and it isn't known which is whose.
    if stated.clone().count() != ranks.len() {
        return vec![None; ranks.len()];
    }
    let each = stated.zip(ranks);
    each.map(|(stated, rank)| read(&decode(stated, FIELDS)?, partitions, *rank))
        .collect()
}

/// A message; `None` when it has fields beyond those that are known, which may say that the
/// others mean something else.
pub(super) fn decode<M: Message + Default>(message: &[u8], fields: u32) -> Option<M> {
    if message.len() > MOST_BYTES {
        return None;
    }
    let mut rest = message;
    while !rest.is_empty() {
        let (field, wire_type) = decode_key(&mut rest).ok()?;
        if field > fields {
            return None;
        }
        skip_field(wire_type, field, &mut rest, DecodeContext::default()).ok()?;
    }
    M::decode(message).ok()
}

/// One array's; `None` for a form that isn't known, or makes no sense.
fn read(stated: &OpShardingProto, partitions: usize, rank: usize) -> Option<Sharding> {
    if let Some(stated) = &stated.named {
        return named::read(stated, partitions, rank);
    }
    match stated.kind {
        REPLICATED => Some(Sharding::replicated()),
        MAXIMAL => {
            let [holder] = stated.tile_assignment_devices[..] else {
                return None;
            };
            only(holder, partitions)
        }
        OTHER => {
            let tiles = counts(&stated.tile_assignment_dimensions)?;
            let axes = rank_of_tiles(stated)?;
            let holders = holders(stated, partitions)?;
            if axes != rank || holders.len() != partitions {
                return None;
            }
            // The axes behind those of the array count the copies.
            let sharding = Sharding::tiled(&tiles[..axes], &holders).ok()?;
            (product(&tiles)? == partitions).then_some(sharding)
        }
        _ => None,
    }
}

/// That of an array whose values are those of one partition.
pub(super) fn only(holder: i64, partitions: usize) -> Option<Sharding> {
    let holder = usize::try_from(holder).ok()?;
    (holder < partitions).then_some(Sharding {
        spread: Spread::Only(holder),
    })
}

/// How many of the dimensions of the tile assignment are the array's. The others must be
/// copies: who runs what by hand isn't said of them.
fn rank_of_tiles(stated: &OpShardingProto) -> Option<usize> {
    let behind = &stated.last_tile_dims;
    if behind.iter().any(|kind| *kind != REPLICATED) {
        return None;
    }
    let copies = behind.len().max(stated.replicate_on_last_tile_dim.into());
    stated.tile_assignment_dimensions.len().checked_sub(copies)
}

/// The partitions in the order of the tiles: listed, or counted up in an array of
/// `iota_reshape_dims` whose axes are then put in another order.
fn holders(stated: &OpShardingProto, partitions: usize) -> Option<Vec<usize>> {
    if stated.iota_reshape_dims.is_empty() {
        return counts(&stated.tile_assignment_devices);
    }
    let dims = counts(&stated.iota_reshape_dims)?;
    let order = stated.iota_transpose_perm.iter();
    let order: Vec<usize> = order
        .map(|axis| usize::try_from(*axis).ok())
        .collect::<Option<_>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..dims.len()) {
        return None;
    }
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    let count = product(&dims).filter(|count| *count == partitions)?;
    let holder = |place: usize| {
        let mut rest = place;
        let mut holder = 0;
        for axis in order.iter().rev() {
            holder += rest % dims[*axis] * strides[*axis];
            rest /= dims[*axis];
        }
        holder
    };
    Some((0..count).map(holder).collect())
}

pub(super) fn counts(numbers: &[i64]) -> Option<Vec<usize>> {
    let numbers = numbers.iter();
    numbers
        .map(|number| usize::try_from(*number).ok())
        .collect()
}

/// As many as devices can be: more is no list of partitions.
pub(super) fn product(counts: &[usize]) -> Option<usize> {
    let product = counts
        .iter()
        .try_fold(1usize, |all, count| all.checked_mul(*count))?;
    i32::try_from(product)
        .is_ok_and(|count| count > 0)
        .then_some(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::{tests::module_with, Module};

    const TUPLE: i32 = 2;

    fn tiled(dims: &[i64], devices: &[i64]) -> OpShardingProto {
        OpShardingProto {
            kind: OTHER,
            tile_assignment_dimensions: dims.to_vec(),
            tile_assignment_devices: devices.to_vec(),
            ..OpShardingProto::default()
        }
    }

    fn iota(dims: &[i64], reshape: &[i64], order: &[i32]) -> OpShardingProto {
        OpShardingProto {
            iota_reshape_dims: reshape.to_vec(),
            iota_transpose_perm: order.to_vec(),
            ..tiled(dims, &[])
        }
    }

    #[test]
    fn both_ways_to_list_partitions() {
        let listed = read(&tiled(&[2, 2], &[0, 2, 1, 3]), 4, 2);
        let wanted = Sharding::tiled(&[2, 2], &[0, 2, 1, 3]).expect("fits");
        assert_eq!(listed, Some(wanted.clone()));
        assert_eq!(read(&iota(&[2, 2], &[2, 2], &[1, 0]), 4, 2), Some(wanted));
        // 0..12 as 2x3x2, read with the last axis first and the middle one last:
        // element (k, i, j) is 6 i + 2 j + k.
        let counted = read(&iota(&[12], &[2, 3, 2], &[2, 0, 1]), 12, 1);
        let wanted = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11];
        assert_eq!(counted, Sharding::tiled(&[12], &wanted).ok());
    }

    #[test]
    fn copies_stand_behind_the_axes() {
        let mut partial = iota(&[2, 1, 4], &[8], &[0]);
        partial.replicate_on_last_tile_dim = true;
        let wanted = Sharding::tiled(&[2, 1], &[0, 1, 2, 3, 4, 5, 6, 7]).expect("fits");
        assert_eq!(read(&partial, 8, 2), Some(wanted.clone()));
        let mut twice = iota(&[2, 1, 2, 2], &[8], &[0]);
        twice.last_tile_dims = vec![REPLICATED, REPLICATED];
        assert_eq!(read(&twice, 8, 2), Some(wanted));
        // A manual subgroup.
        twice.last_tile_dims = vec![REPLICATED, 4];
        assert_eq!(read(&twice, 8, 2), None);
    }

    #[test]
    fn unknown_forms_are_none() {
        let kind = |kind| OpShardingProto {
            kind,
            ..OpShardingProto::default()
        };
        assert_eq!(read(&kind(REPLICATED), 4, 2), Some(Sharding::replicated()));
        for unknown in [
            kind(TUPLE),
            kind(OTHER),
            kind(4),
            kind(5),
            kind(99),
            kind(MAXIMAL),
        ] {
            assert_eq!(read(&unknown, 4, 2), None, "{unknown:?}");
        }
        // Field 15, a number: the rest would read as replicated.
        let one = |stated: &[u8]| of_all(std::iter::once(stated), 4, &[2]);
        assert_eq!(one(&[15 << 3, 1]), [None]);
        assert_eq!(one(&[14 << 3 | 2]), [None]);
        assert_eq!(one(&[]), [Some(Sharding::replicated())]);
        // Longer than the numbers of all devices there could be.
        let long = tiled(&[4], &[0; 5 << 20]).encode_to_vec();
        assert_eq!(one(&long), [None]);
        for senseless in [
            tiled(&[2, 2], &[0, 1, 2]),
            tiled(&[2, 2], &[0, 1, 2, 2]),
            tiled(&[2, 2], &[0, 1, 2, -1]),
            tiled(&[2, 1], &[0, 1, 2, 3]),
            tiled(&[4], &[0, 1, 2, 3]),
            tiled(&[-4, 1], &[0, 1, 2, 3]),
            iota(&[2, 2], &[2, 2], &[1, 1]),
            iota(&[2, 2], &[2, 2], &[0]),
            iota(&[2, 2], &[2, 3], &[1, 0]),
            iota(&[2, 2], &[i64::MAX, i64::MAX], &[1, 0]),
            iota(&[2, 2], &[2, 0], &[1, 0]),
        ] {
            assert_eq!(read(&senseless, 4, 2), None, "{senseless:?}");
        }
    }

    #[test]
    fn one_holds_all() {
        let mut one = OpShardingProto {
            kind: MAXIMAL,
            tile_assignment_devices: vec![2],
            ..OpShardingProto::default()
        };
        let sharding = read(&one, 4, 1).expect("known");
        assert_eq!(sharding.to_string(), "{maximal device=2}");
        assert!(!sharding.is_replicated());
        let shape = crate::Shape::of::<f32>(&[3]).expect("small");
        let firsts = sharding.distinct(&shape, 4).expect("fits");
        assert_eq!((firsts.len(), firsts[0].1), (1, 2));
        one.tile_assignment_devices = vec![4];
        assert_eq!(read(&one, 4, 1), None);
    }

    #[test]
    fn a_tuple_has_one_for_each_output() {
        let split = tiled(&[2], &[0, 1]).encode_to_vec();
        let wanted = Some(Sharding::split(0, 2));
        let whole = || Some(Sharding::replicated());
        // A module's fields 12 and 14.
        let outputs = |stated: Option<&[u8]>, partitions, ranks: &[usize]| {
            let bytes = module_with(&stated.map_or(vec![], |stated| vec![(12, stated)]));
            let module = Module::read(&bytes).expect("whole");
            of_outputs(&module, partitions, ranks)
        };
        assert_eq!(outputs(None, 2, &[1]), [None]);
        assert_eq!(outputs(None, 1, &[1]), [whole()]);
        assert_eq!(outputs(Some(&split), 2, &[1])[0], wanted);
        let tuple = OpShardingProto {
            kind: TUPLE,
            ..OpShardingProto::default()
        };
        let mut tuple = tuple.encode_to_vec();
        tuple.extend([5 << 3 | 2, split.len() as u8]);
        tuple.extend(&split);
        tuple.extend([5 << 3 | 2, 0]);
        let both = [wanted.clone(), whole()];
        assert_eq!(outputs(Some(&tuple), 2, &[1, 3]), both);
        assert_eq!(outputs(Some(&tuple), 2, &[1]), [None]);
        // Of a newer form, which may say something else.
        tuple.extend([15 << 3, 1]);
        assert_eq!(outputs(Some(&tuple), 2, &[1, 3]), [None, None]);
        let bytes = module_with(&[(14, &split)]);
        let module = Module::read(&bytes).expect("whole");
        assert_eq!(of_inputs(&module, 2, &[1]), [wanted]);
        assert_eq!(of_inputs(&module, 2, &[1, 1]), [None, None]);
    }
}
