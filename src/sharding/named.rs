//! Shardings by the axes of a mesh: the newer form, which 0.115 gives for programs that state
//! no sharding, or state it in this form.

use super::stated::{counts, decode, only, product};
use super::Sharding;
use crate::proto::{AxisRefProto, MeshProto, NamedShardingProto};

/// The highest field of a `NamedSharding` that is known.
const FIELDS: u32 = 6;

/// One array's; `None` for what isn't known, or makes no sense.
pub(super) fn read(stated: &[u8], partitions: usize, rank: usize) -> Option<Sharding> {
    let stated: NamedShardingProto = decode(stated, FIELDS)?;
    if !stated.tuple_shardings.is_empty() || !stated.unreduced_axes.is_empty() {
        return None;
    }
    let mesh = stated.mesh.unwrap_or_default();
    let mut cuts = stated.dim_shardings.iter();
    if cuts.all(|cut| cut.axes.is_empty()) {
        // A mesh without axes has one device, or none where the array is everywhere.
        return match mesh.device_ids[..] {
            [holder] if mesh.axes.is_empty() => only(holder, partitions),
            _ => Some(Sharding::replicated()),
        };
    }
    if stated.dim_shardings.len() != rank {
        return None;
    }
    let sizes: Vec<i64> = mesh.axes.iter().map(|axis| axis.size).collect();
    let sizes = counts(&sizes)?;
    if product(&sizes)? != partitions {
        return None;
    }
    let cuts = stated.dim_shardings.iter();
    let cuts: Vec<Vec<Cut>> = cuts
        .map(|cut| cut.axes.iter().map(|axis| Cut::of(axis, &sizes)).collect())
        .collect::<Option<_>>()?;
    let parts = |cuts: &[Cut]| -> Vec<usize> { cuts.iter().map(|cut| cut.size).collect() };
    let tiles: Vec<usize> = cuts
        .iter()
        .map(|cuts| product(&parts(cuts)))
        .collect::<Option<_>>()?;
    // The places of the mesh in the order of their tiles; those of the same tile stay in order.
    let mut places: Vec<(usize, usize)> = (0..partitions)
        .map(|place| {
            let all = cuts.iter().flatten();
            let tile = all.fold(0usize, |tile, cut| {
                tile.saturating_mul(cut.size) + cut.part_of(place)
            });
            (tile, place)
        })
        .collect();
    places.sort_unstable();
    // An axis that cuts twice leaves tiles without a holder.
    let copies = partitions / product(&tiles)?.min(partitions);
    let mut tiles_in_order = places.iter().enumerate();
    if !tiles_in_order.all(|(index, (tile, _))| *tile == index / copies) {
        return None;
    }
    let devices = devices(&mesh, partitions)?;
    let holders: Vec<usize> = places.iter().map(|(_, place)| devices[*place]).collect();
    Sharding::tiled(&tiles, &holders).ok()
}

/// The partition at each place of the mesh.
fn devices(mesh: &MeshProto, partitions: usize) -> Option<Vec<usize>> {
    if mesh.device_ids.is_empty() {
        return Some((0..partitions).collect());
    }
    counts(&mesh.device_ids).filter(|devices| devices.len() == partitions)
}

/// An axis of the mesh, or a part of one, that cuts an axis of an array.
struct Cut {
    size: usize,
    /// How far apart neighbours along it stand in the mesh.
    stride: usize,
}

impl Cut {
    fn of(axis: &AxisRefProto, sizes: &[usize]) -> Option<Cut> {
        let index = usize::try_from(axis.index).ok()?;
        let whole = *sizes.get(index)?;
        let behind = product(&sizes[index + 1..])?;
        let Some(part) = &axis.part else {
            return Some(Cut {
                size: whole,
                stride: behind,
            });
        };
        let before = usize::try_from(part.pre_size).ok()?;
        let size = usize::try_from(part.size).ok()?;
        let used = before.checked_mul(size).filter(|used| *used > 0)?;
        (whole % used == 0).then_some(Cut {
            size,
            stride: whole / used * behind,
        })
    }

    /// Which part of the array's axis the `place` of the mesh has.
    fn part_of(&self, place: usize) -> usize {
        place / self.stride % self.size
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::proto::{DimShardingProto, MeshAxisProto, SubAxisProto};

    fn axis(index: i64) -> AxisRefProto {
        AxisRefProto { index, part: None }
    }

    fn part(index: i64, pre_size: i64, size: i64) -> AxisRefProto {
        let part = Some(SubAxisProto { pre_size, size });
        AxisRefProto { index, part }
    }

    fn named(sizes: &[i64], device_ids: &[i64], cuts: &[&[AxisRefProto]]) -> NamedShardingProto {
        let axes = sizes.iter().map(|size| MeshAxisProto { size: *size });
        let cuts = cuts.iter().map(|axes| DimShardingProto {
            axes: axes.to_vec(),
        });
        NamedShardingProto {
            mesh: Some(MeshProto {
                axes: axes.collect(),
                device_ids: device_ids.to_vec(),
            }),
            dim_shardings: cuts.collect(),
            ..NamedShardingProto::default()
        }
    }

    fn text(stated: &NamedShardingProto, partitions: usize, rank: usize) -> String {
        let read = read(&stated.encode_to_vec(), partitions, rank);
        read.map_or("none".to_owned(), |sharding| sharding.to_string())
    }

    #[test]
    fn axes_of_the_mesh_cut_axes_of_the_array() {
        let mesh = [2, 4];
        for (cuts, wanted) in [
            (&[&[axis(0)][..], &[axis(1)]][..], "{devices=[2,4]<=[8]}"),
            (&[&[axis(1)], &[axis(0)]], "{devices=[4,2]<=[2,4]T(1,0)}"),
            (&[&[axis(1), axis(0)], &[]], "{devices=[8,1]<=[2,4]T(1,0)}"),
            (
                &[&[axis(1)], &[]],
                "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
            ),
            (&[&[], &[]], "{replicated}"),
            // The first and the second half of the axis of 4.
            (
                &[&[part(1, 1, 2)], &[]],
                "{devices=[2,1,4]0,1,4,5,2,3,6,7 last_tile_dim_replicate}",
            ),
            (
                &[&[part(1, 2, 2)], &[part(1, 1, 2)]],
                "{devices=[2,2,2]0,4,2,6,1,5,3,7 last_tile_dim_replicate}",
            ),
        ] {
            assert_eq!(text(&named(&mesh, &[], cuts), 8, 2), wanted);
        }
        // Of a mesh whose devices stand in another order.
        let turned = named(&[4], &[3, 2, 1, 0], &[&[axis(0)]]);
        assert_eq!(text(&turned, 4, 1), "{devices=[4]3,2,1,0}");
    }

    #[test]
    fn a_mesh_without_axes() {
        assert_eq!(text(&named(&[], &[], &[]), 4, 2), "{replicated}");
        assert_eq!(text(&NamedShardingProto::default(), 4, 2), "{replicated}");
        assert_eq!(text(&named(&[], &[2], &[]), 4, 2), "{maximal device=2}");
        assert_eq!(text(&named(&[], &[4], &[]), 4, 2), "none");
    }

    #[test]
    fn what_makes_no_sense_is_none() {
        for senseless in [
            named(&[2, 2], &[], &[&[axis(0)]]),
            named(&[2, 4], &[], &[&[axis(0)], &[]]),
            named(&[2, 2], &[], &[&[axis(2)], &[]]),
            named(&[2, 2], &[], &[&[axis(-1)], &[]]),
            named(&[2, 2], &[], &[&[axis(0)], &[axis(0)]]),
            named(&[2, 2], &[], &[&[part(0, 2, 2)], &[]]),
            named(&[2, 2], &[], &[&[part(0, 0, 2)], &[]]),
            named(&[2, 2], &[0, 1, 2], &[&[axis(0)], &[]]),
            named(&[2, 2], &[0, 1, 2, 2], &[&[axis(0)], &[]]),
            named(&[0, 2], &[], &[&[axis(0)], &[]]),
            named(&[i64::MAX, i64::MAX], &[], &[&[axis(0)], &[]]),
        ] {
            assert_eq!(text(&senseless, 4, 2), "none", "{senseless:?}");
        }
        let mut unreduced = named(&[2, 2], &[], &[&[axis(0)], &[]]);
        unreduced.unreduced_axes = vec![axis(1)];
        assert_eq!(text(&unreduced, 4, 2), "none");
        let mut newer = named(&[2, 2], &[], &[&[axis(0)], &[]]).encode_to_vec();
        newer.extend([7 << 3 | 2, 0]);
        assert_eq!(read(&newer, 4, 2), None);
    }
}
