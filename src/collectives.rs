//! The instructions of a program that speak to other devices, or to a host.

mod text;

use crate::error::{Code, Error, Result};
use crate::hlo;
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

/// Whether an instruction waits for other devices.
pub(crate) fn is_one(opcode: &str) -> bool {
    COLLECTIVES.iter().any(|name| opcode.starts_with(name))
}

/// Whether an instruction waits for a host.
pub(crate) fn waits_for_host(instruction: &hlo::Instruction<'_>) -> bool {
    matches!(instruction.opcode, "infeed" | "outfeed") || instruction.is_host_transfer
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

    /// Adds an instruction of an HLO module, compiled or not.
    pub(crate) fn add_instruction(&mut self, instruction: &hlo::Instruction<'_>) {
        if instruction.reach == 0 {
            return;
        }
        let reduces = ["all-gather", "all-reduce", "reduce-scatter"];
        let reduces = reduces
            .iter()
            .any(|name| instruction.opcode.starts_with(name));
        let channel = instruction.channel_id > 0;
        let counted = Counted::of(reduces, channel, instruction.use_global_device_ids);
        self.add(counted, instruction.reach);
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

/// How many there are when `id` is the last.
fn up_to(id: i64) -> usize {
    usize::try_from(id).map_or(0, |id| id.saturating_add(1))
}

/// Refuses a compiled program that would wait for ever, or speak to devices that don't run it.
pub(crate) fn check(module: &hlo::Module<'_>, replicas: usize, partitions: usize) -> Result<()> {
    let program = format!("`{}`", module.name);
    module.reach.check(&program, replicas, partitions)?;
    match module.waits_for_host {
        None => Ok(()),
        Some(opcode) => Err(Error::new(
            Code::Unimplemented,
            format!(
                "{program} has the instruction `{opcode}`, which waits for a host that never \
                 comes: PJRT runs take their data as arguments and give it as outputs"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::{tests::module_of, Module};

    /// With replica groups as XLA writes them, of which 3 is the last.
    const GROUPS: &[u8] = &[0x0a, 2, 0, 3];

    fn reach(opcode: &str, channel_id: i64, global: bool) -> Reach {
        let pairs = opcode == "collective-permute";
        let lists: (u32, &[u8]) = match pairs {
            true => (52, &[8, 3, 16, 1]),
            false => (49, GROUPS),
        };
        let numbers = [(26, channel_id), (71, global.into())];
        let bytes = module_of(opcode, &numbers, &[lists]);
        Module::read(&bytes).expect("whole").reach
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
        let all_reduce = "all-reduce-start";
        assert_eq!(reach(all_reduce, 0, false), replicas);
        assert_eq!(reach(all_reduce, 1, false), replicas);
        assert_eq!(reach(all_reduce, 1, true), devices);
        assert_eq!(reach("collective-permute", 0, false), replicas);
        assert_eq!(reach("collective-permute", 2, false), partitions);
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
