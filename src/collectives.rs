//! The instructions of a program that speak to other devices, or to a host.

mod text;

use crate::error::{Code, Error, Result};
use crate::proto::{HloInstructionProto, HloModuleProto};
use crate::signature::plural;

/// What speaks to other devices; asynchronous forms end in `-start` and `-done`.
const COLLECTIVES: [&str; 9] = [
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "recv",
    "reduce-scatter",
    "send",
];

fn instructions(module: &HloModuleProto) -> impl Iterator<Item = &HloInstructionProto> {
    let computations = module.computations.iter();
    computations.flat_map(|computation| &computation.instructions)
}

/// Whether an instruction waits for other devices.
pub(crate) fn any(module: &HloModuleProto) -> bool {
    instructions(module).any(|instruction| {
        COLLECTIVES
            .iter()
            .any(|name| instruction.opcode.starts_with(name))
    })
}

/// What the numbers of a collective count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Without a channel, or with one but without global ids.
    Replicas,
    /// With a channel, where no global ids are known.
    Partitions,
    /// With global ids: replica by replica, each with its partitions.
    Devices,
}

impl Counted {
    /// `reduces` is for the instructions that know of global ids.
    fn of(reduces: bool, channel: bool, global: bool) -> Counted {
        match (reduces, channel, global) {
            (true, _, true) => Counted::Devices,
            (false, true, _) => Counted::Partitions,
            _ => Counted::Replicas,
        }
    }
}

/// To whom the collectives of a program speak, at least: by the largest number among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    replicas: usize,
    partitions: usize,
    devices: usize,
    /// An `all_to_all` without groups.
    groupless: bool,
}

impl Reach {
    /// Of a StableHLO text. What can't be read there is seen once it is compiled.
    pub(crate) fn of_text(text: &str) -> Reach {
        text::reach(text)
    }

    /// Of an HLO module, compiled or not.
    pub(crate) fn of_module(module: &HloModuleProto) -> Reach {
        let mut reach = Reach::default();
        for instruction in instructions(module) {
            let opcode = instruction.opcode.as_str();
            let reduces = ["all-gather", "all-reduce", "reduce-scatter"];
            let reduces = reduces.iter().any(|name| opcode.starts_with(name));
            let channel = instruction.channel_id > 0;
            let counted = Counted::of(reduces, channel, instruction.use_global_device_ids);
            reach.add(counted, reach_of(instruction));
        }
        reach
    }

    fn add(&mut self, counted: Counted, count: usize) {
        let known = match counted {
            Counted::Replicas => &mut self.replicas,
            Counted::Partitions => &mut self.partitions,
            Counted::Devices => &mut self.devices,
        };
        *known = count.max(*known);
    }

    /// Refuses a program that would speak to devices that don't run it, or to others than its
    /// numbers say. Where there is a single replica, or a single partition, compilers check
    /// nothing of it: some runs fail then, and some end the process.
    pub(crate) fn check(&self, program: &str, replicas: usize, partitions: usize) -> Result<()> {
        let needed = replicas.saturating_mul(partitions);
        let runs = format!(
            "{} x {}",
            plural(replicas, "replica"),
            plural(partitions, "partition")
        );
        let most = self.replicas.max(self.partitions).max(self.devices);
        if most > needed {
            return Err(Error::invalid(format!(
                "the collectives of {program} speak to {most} devices, but it is to run on {needed} \
                 ({runs}); ask for more `replicas` or `partitions`"
            )));
        }
        for (what, noun, count, present, because) in [
            (
                "replicas",
                "replica",
                self.replicas,
                replicas,
                "those without a channel, or without global ids, count replicas",
            ),
            (
                "partitions",
                "partition",
                self.partitions,
                partitions,
                "those with a channel, such as a `collective_permute`, count partitions",
            ),
        ] {
            if count > present {
                return Err(Error::invalid(format!(
                    "the collectives of {program} speak to {}, but it is to run as {runs} \
                     ({because}); ask for {count} `{what}`",
                    plural(count, noun)
                )));
            }
        }
        Ok(())
    }

    /// Refuses what ends the process while it is compiled.
    pub(crate) fn check_groups(&self, program: &str) -> Result<()> {
        if self.groupless {
            return Err(Error::invalid(format!(
                "{program} has an `all_to_all` with empty `replica_groups`, over which compilers end \
                 the process; list the groups, such as `dense<[[0, 1]]>`"
            )));
        }
        Ok(())
    }
}

/// How many devices a collective speaks to, by the largest of its numbers; 0 for another
/// instruction.
fn reach_of(instruction: &HloInstructionProto) -> usize {
    let listed = instruction.collective_device_list.as_ref();
    let groups = listed.into_iter().flat_map(|list| &list.replica_groups);
    let members = groups
        .chain(&instruction.replica_groups)
        .flat_map(|group| &group.replica_ids)
        .copied();
    let pairs = instruction.source_target_pairs.iter();
    let pairs = pairs.flat_map(|pair| [pair.source, pair.target]);
    let largest = members.chain(pairs).map(up_to).max().unwrap_or(0);
    let iota = listed.and_then(|list| list.iota.as_ref());
    let iota = iota.or(instruction.iota_groups.as_ref());
    let counted = iota.map_or(0, |iota| {
        iota.groups.saturating_mul(iota.devices_in_a_group)
    });
    let mesh = instruction.mesh_groups.as_ref();
    let mesh = mesh.and_then(|groups| groups.mesh.as_ref());
    let meshed = mesh.map_or(0, |mesh| {
        let sizes = mesh.axes.iter();
        sizes.fold(1, |all: i64, axis| all.saturating_mul(axis.size))
    });
    let counted = usize::try_from(counted.max(meshed)).unwrap_or(0);
    largest.max(counted)
}

/// How many there are when `id` is the last.
fn up_to(id: i64) -> usize {
    usize::try_from(id).map_or(0, |id| id.saturating_add(1))
}

/// Refuses a compiled program that would wait for ever, or speak to devices that don't run it.
pub(crate) fn check(module: &HloModuleProto, replicas: usize, partitions: usize) -> Result<()> {
    let program = format!("`{}`", module.name);
    Reach::of_module(module).check(&program, replicas, partitions)?;
    let waits_for_host = |instruction: &&HloInstructionProto| {
        matches!(instruction.opcode.as_str(), "infeed" | "outfeed") || instruction.is_host_transfer
    };
    match instructions(module).find(waits_for_host) {
        None => Ok(()),
        Some(instruction) => Err(Error::new(
            Code::Unimplemented,
            format!(
                "`{}` has the instruction `{}`, which waits for a host that never comes: PJRT runs \
                 take their data as arguments and give it as outputs",
                module.name, instruction.opcode
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{
        CollectiveDeviceList, HloComputationProto, IotaReplicaGroups, MeshAxisProto, MeshProto,
        MeshReplicaGroups, ReplicaGroup, SourceTarget,
    };

    fn reach(instruction: HloInstructionProto) -> Reach {
        Reach::of_module(&HloModuleProto {
            computations: vec![HloComputationProto {
                instructions: vec![instruction],
                ..HloComputationProto::default()
            }],
            ..HloModuleProto::default()
        })
    }

    fn all_reduce(channel_id: i64, use_global_device_ids: bool) -> HloInstructionProto {
        HloInstructionProto {
            opcode: "all-reduce-start".to_owned(),
            channel_id,
            use_global_device_ids,
            replica_groups: vec![ReplicaGroup {
                replica_ids: vec![0, 3],
            }],
            ..HloInstructionProto::default()
        }
    }

    #[test]
    fn what_the_numbers_count() {
        let replicas = Reach {
            replicas: 4,
            ..Reach::default()
        };
        let partitions = Reach {
            partitions: 4,
            ..Reach::default()
        };
        let devices = Reach {
            devices: 4,
            ..Reach::default()
        };
        assert_eq!(reach(all_reduce(0, false)), replicas);
        assert_eq!(reach(all_reduce(1, false)), replicas);
        assert_eq!(reach(all_reduce(1, true)), devices);
        let mut permute = HloInstructionProto {
            opcode: "collective-permute".to_owned(),
            source_target_pairs: vec![SourceTarget {
                source: 3,
                target: 1,
            }],
            ..HloInstructionProto::default()
        };
        assert_eq!(reach(permute.clone()), replicas);
        permute.channel_id = 2;
        assert_eq!(reach(permute), partitions);
    }

    #[test]
    fn every_way_to_list_groups() {
        let plain = HloInstructionProto {
            replica_groups: Vec::new(),
            ..all_reduce(0, false)
        };
        assert_eq!(reach_of(&plain), 0);
        let iota = IotaReplicaGroups {
            groups: 2,
            devices_in_a_group: 3,
        };
        let mut listed = plain.clone();
        listed.collective_device_list = Some(CollectiveDeviceList {
            replica_groups: Vec::new(),
            iota: Some(iota.clone()),
        });
        assert_eq!(reach_of(&listed), 6);
        let mut counted = plain.clone();
        counted.iota_groups = Some(iota);
        assert_eq!(reach_of(&counted), 6);
        let mut meshed = plain;
        meshed.mesh_groups = Some(MeshReplicaGroups {
            mesh: Some(MeshProto {
                axes: vec![MeshAxisProto { size: 2 }, MeshAxisProto { size: 4 }],
                device_ids: Vec::new(),
            }),
        });
        assert_eq!(reach_of(&meshed), 8);
    }

    #[test]
    fn numbers_have_to_fit() {
        let reach = Reach {
            replicas: 2,
            partitions: 2,
            devices: 4,
            groupless: false,
        };
        assert!(reach.check("it", 2, 2).is_ok());
        for (replicas, partitions, words) in [
            (1, 1, ["4 devices", "to run on 1"]),
            (1, 4, ["2 replicas", "ask for 2 `replicas`"]),
            (4, 1, ["2 partitions", "ask for 2 `partitions`"]),
        ] {
            let refused = reach.check("it", replicas, partitions);
            let message = refused.expect_err("refused").to_string();
            for word in words {
                assert!(message.contains(word), "no `{word}` in: {message}");
            }
        }
    }
}
