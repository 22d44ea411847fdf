//! What a program says of the devices it was written for.

use memchr::memmem;

use super::bytecode;
use crate::collectives::Reach;
use crate::hlo;
use crate::plugin::StableHloVersion;

/// What a program says of the devices it was written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) replicas: Option<usize>,
    pub(crate) partitions: Option<usize>,
    /// Whether it states one replica and one partition, as JAX does of every program for one
    /// device, and nothing in it depends on how many there are.
    pub(crate) replicable: bool,
    pub(crate) shardy: bool,
    pub(crate) artifact: Option<StableHloVersion>,
    /// To whom its collectives speak.
    pub(crate) reach: Reach,
    /// Whether it has collectives that `reach` doesn't know of: bytecode isn't read so far.
    pub(crate) unread_collectives: bool,
    /// Whether it is partitioned, over a number of devices that isn't read.
    pub(crate) unread_shardings: bool,
}

/// What is in the name of every operation that knows of other devices.
const DEVICE_WORDS: [&str; 8] = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_",
    "cross-replica",
    "partition_id",
    "reduce_scatter",
    "replica_id",
];

/// What bytecode of a program over several devices speaks of, in either partitioner's words.
const SHARDINGS: [&[u8]; 4] = [
    b"sdy",
    b"mhlo.sharding",
    b"SPMDFullToShardShape",
    b"xla.sdy.",
];

/// How the names of collectives stand in bytecode, in StableHLO and in portable artifacts.
const COLLECTIVES: [&[u8]; 6] = [
    b"all_gather",
    b"all_reduce",
    b"all_to_all",
    b"collective_broadcast",
    b"collective_permute",
    b"reduce_scatter",
];

impl Declared {
    /// Reads the attributes that stand before the first function. What can't be
    /// read there is left open: the compiler has the last word.
    pub(super) fn of_text(text: &str) -> Declared {
        let header = text.split("func.func").next().unwrap_or("");
        // The generic form has the attributes at the end, behind the module's region.
        let tail = text.rsplit("})").next().unwrap_or("");
        let number = |key| number_after(header, key).or_else(|| number_after(tail, key));
        let replicas = number("mhlo.num_replicas");
        let partitions = number("mhlo.num_partitions");
        let for_one = (replicas, partitions.unwrap_or(1)) == (Some(1), 1);
        Declared {
            replicas,
            partitions,
            replicable: for_one && !DEVICE_WORDS.iter().any(|word| text.contains(word)),
            shardy: text.contains("sdy."),
            artifact: None,
            reach: Reach::of_text(text),
            unread_collectives: false,
            unread_shardings: false,
        }
    }

    /// Bytecode begins with the magic, a version number and its producer as
    /// NUL-terminated text; a portable artifact's producer is `StableHLO_v1.2.3`.
    pub(super) fn of_bytecode(code: &[u8]) -> Declared {
        let header = &code[..code.len().min(128)];
        let text = String::from_utf8_lossy(header);
        let artifact = text.split_once("StableHLO_v").and_then(|(_, rest)| {
            let version = rest.split('\0').next()?;
            let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
            Some(StableHloVersion {
                major: numbers.next()??,
                minor: numbers.next()??,
                patch: numbers.next()??,
            })
        });
        let (replicas, partitions) = bytecode::replicas_and_partitions(code);
        let for_one = (replicas, partitions.unwrap_or(1)) == (Some(1), 1);
        let is_there = |word: &str| memmem::find(code, word.as_bytes()).is_some();
        Declared {
            replicas,
            partitions,
            replicable: for_one && !DEVICE_WORDS.iter().any(|word| is_there(word)),
            // Dialects are named in the string section.
            shardy: is_there("sdy\0") || is_there("sdy."),
            artifact,
            reach: Reach::default(),
            unread_collectives: COLLECTIVES
                .iter()
                .any(|name| memmem::find(code, name).is_some()),
            unread_shardings: partitions.is_none()
                && memmem::find(code, b"num_partitions").is_some()
                && SHARDINGS
                    .iter()
                    .any(|name| memmem::find(code, name).is_some()),
        }
    }

    pub(super) fn of_hlo(module: &hlo::Module<'_>, code: &[u8]) -> Declared {
        Declared {
            // Shardings are attributes there, and `shard_map` a call, with names that begin so.
            shardy: memmem::find(code, b"xla.sdy.").is_some(),
            reach: module.reach,
            ..Declared::default()
        }
    }
}

/// The number in `key = 4 : i32`, where that isn't behind `//`.
fn number_after(text: &str, key: &str) -> Option<usize> {
    let mut found = text.match_indices(key);
    found.find_map(|(at, _)| {
        let line = text[..at].rsplit('\n').next().unwrap_or("");
        if line.contains("//") {
            return None;
        }
        let rest = text[at + key.len()..].trim_start();
        let rest = rest.strip_prefix('=')?.trim_start();
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_devices_are_read_from_the_header_only() {
        let text = "// mhlo.num_partitions = 9\nmodule @jit_f attributes {mhlo.num_partitions = 4 \
                    : i32, mhlo.num_replicas = 2 : i32} { sdy.mesh @m = <[\"x\"=4]> func.func \
                    @main() attributes {mhlo.num_replicas = 7 : i32} }";
        let declared = Declared::of_text(text);
        assert_eq!(declared.replicas, Some(2));
        assert_eq!(declared.partitions, Some(4));
        assert!(declared.shardy);
        assert_eq!(
            Declared::of_text("func.func @main() {}"),
            Declared::default()
        );
    }
}
