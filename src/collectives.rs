//! The instructions of a program that speak to other devices, or to a host.

mod written;

pub(crate) use written::reach as reach_of_text;

use crate::error::{Code, Error, Result};
use crate::proto::{HloInstructionProto, HloModuleProto};

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

/// How the numbers in a collective's groups count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// Replicas.
    Replicas,
    /// Partitions of a replica.
    Partitions,
    /// Devices: replica by replica, each with its partitions.
    Devices,
}

impl Numbering {
    /// By XLA's rules: a channel lets collectives speak across partitions. Reductions and
    /// gathers then count replicas all the same, unless they are told to count devices;
    /// exchanges count partitions.
    fn of(has_channel: bool, is_global: bool, exchanges: bool) -> Numbering {
        match (has_channel, is_global) {
            (false, _) => Numbering::Replicas,
            (true, true) => Numbering::Devices,
            (true, false) if exchanges => Numbering::Partitions,
            (true, false) => Numbering::Replicas,
        }
    }
}

/// How many there must be of each for the collectives of a program to make sense, at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
    pub(crate) devices: usize,
}

impl Reach {
    fn widen(&mut self, numbering: Numbering, count: usize) {
        let known = match numbering {
            Numbering::Replicas => &mut self.replicas,
            Numbering::Partitions => &mut self.partitions,
            Numbering::Devices => &mut self.devices,
        };
        *known = count.max(*known);
    }

    /// What is too few, where something is: the count that is spoken to, and of what. Compilers
    /// don't check it with a single replica: a run would wait for ever, and libtpu's ends the
    /// process.
    pub(crate) fn beyond(
        &self,
        replicas: usize,
        partitions: usize,
    ) -> Option<(usize, &'static str)> {
        let there = [
            (self.replicas, replicas, "replicas"),
            (self.partitions, partitions, "partitions"),
            (
                self.devices,
                replicas.saturating_mul(partitions),
                "replicas or partitions",
            ),
        ];
        there
            .into_iter()
            .find(|(spoken_to, there, _)| spoken_to > there)
            .map(|(spoken_to, _, what)| (spoken_to, what))
    }
}

/// What the collectives of a module speak to.
pub(crate) fn reach(module: &HloModuleProto) -> Reach {
    let mut reach = Reach::default();
    for instruction in instructions(module) {
        let count = devices_of(instruction);
        if count > 0 {
            let exchanges = ["all-to-all", "collective-permute", "collective-broadcast"]
                .iter()
                .any(|name| instruction.opcode.contains(name));
            let (has_channel, is_global) = (
                instruction.channel_id > 0,
                instruction.use_global_device_ids,
            );
            reach.widen(Numbering::of(has_channel, is_global, exchanges), count);
        }
    }
    reach
}

/// How many devices the collectives speak to, at least: by the largest number among them.
fn devices(module: &HloModuleProto) -> usize {
    instructions(module).map(devices_of).max().unwrap_or(0)
}

fn devices_of(instruction: &HloInstructionProto) -> usize {
    let listed = instruction.collective_device_list.as_ref();
    let groups = listed.into_iter().flat_map(|list| &list.replica_groups);
    let members = groups
        .chain(&instruction.replica_groups)
        .flat_map(|group| &group.replica_ids)
        .copied();
    let pairs = instruction.source_target_pairs.iter();
    let pairs = pairs.flat_map(|pair| [pair.source, pair.target]);
    let largest = members.chain(pairs).map(devices_up_to).max().unwrap_or(0);
    let iota = listed.and_then(|list| list.iota.as_ref());
    let counted = iota.map_or(0, |iota| {
        iota.groups.saturating_mul(iota.devices_in_a_group)
    });
    largest.max(usize::try_from(counted).unwrap_or(0))
}

/// How many devices there are when `id` is the last.
fn devices_up_to(id: i64) -> usize {
    usize::try_from(id).map_or(0, |id| id.saturating_add(1))
}

/// Refuses a compiled program that would wait for ever, or speak to devices that don't run
/// it: with a single replica, compilers check nothing of it.
pub(crate) fn check(module: &HloModuleProto, devices_that_run: usize) -> Result<()> {
    let speaks_to = devices(module);
    if speaks_to > devices_that_run {
        return Err(Error::invalid(format!(
            "the collectives of `{}` speak to {speaks_to} devices, but it was compiled for \
             {devices_that_run}; ask for more `replicas` or `partitions`",
            module.name
        )));
    }
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
    use crate::proto::{CollectiveDeviceList, HloComputationProto, IotaReplicaGroups};

    fn module(instruction: HloInstructionProto) -> HloModuleProto {
        HloModuleProto {
            computations: vec![HloComputationProto {
                instructions: vec![instruction],
                ..HloComputationProto::default()
            }],
            ..HloModuleProto::default()
        }
    }

    #[test]
    fn modules_count_as_texts_do() {
        for (opcode, channel_id, use_global_device_ids, wanted) in [
            ("all-reduce", 0, false, (6, 0, 0)),
            ("all-reduce-start", 1, false, (6, 0, 0)),
            ("all-reduce", 1, true, (0, 0, 6)),
            ("all-to-all", 0, false, (6, 0, 0)),
            ("ragged-all-to-all", 2, false, (0, 6, 0)),
            ("collective-permute", 1, false, (0, 6, 0)),
        ] {
            let reach = reach(&module(HloInstructionProto {
                opcode: opcode.to_owned(),
                channel_id,
                use_global_device_ids,
                collective_device_list: Some(CollectiveDeviceList {
                    iota: Some(IotaReplicaGroups {
                        groups: 2,
                        devices_in_a_group: 3,
                    }),
                    ..CollectiveDeviceList::default()
                }),
                ..HloInstructionProto::default()
            }));
            let found = (reach.replicas, reach.partitions, reach.devices);
            assert_eq!(found, wanted, "{opcode}");
        }
        let none = module(HloInstructionProto::default());
        assert_eq!(reach(&none), Reach::default());
    }

    #[test]
    fn too_few_are_told() {
        let reach = |replicas, partitions, devices| Reach {
            replicas,
            partitions,
            devices,
        };
        assert_eq!(reach(4, 2, 8).beyond(4, 2), None);
        assert_eq!(reach(4, 0, 0).beyond(1, 4), Some((4, "replicas")));
        assert_eq!(reach(0, 4, 0).beyond(4, 1), Some((4, "partitions")));
        let both = Some((4, "replicas or partitions"));
        assert_eq!(reach(0, 0, 4).beyond(1, 2), both);
        assert_eq!(reach(0, 0, 4).beyond(2, 2), None);
    }
}
