//! The instructions of a program that speak to other devices, or to a host.

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

/// How many devices the collectives speak to, at least: by the largest number among them.
pub(crate) fn devices(module: &HloModuleProto) -> usize {
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
pub(crate) fn devices_up_to(id: i64) -> usize {
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
