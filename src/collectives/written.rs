//! The collectives of a program in StableHLO text.

use super::{devices_up_to, Numbering, Reach};

/// The lists that name devices.
const LISTS: [&str; 2] = ["replica_groups", "source_target_pairs"];

/// What the collectives of a text speak to, by the largest number in each
/// `replica_groups = dense<[[0, 1], [2, 3]]>`. Other spellings are seen once the program is
/// compiled.
pub(crate) fn reach(text: &str) -> Reach {
    let mut reach = Reach::default();
    for name in LISTS {
        for (at, _) in text.match_indices(name) {
            let Some(largest) = largest_in(&text[at + name.len()..]) else {
                continue;
            };
            reach.widen(numbering(text, at), devices_up_to(largest));
        }
    }
    reach
}

/// The largest number in ` = dense<...>`, which is a list, one number for all, or, of long
/// lists, the bytes of 64-bit integers in hexadecimal.
fn largest_in(rest: &str) -> Option<i64> {
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let list = rest.strip_prefix("dense<")?.split('>').next()?;
    if let Some(digits) = list.trim().strip_prefix("\"0x") {
        let digits = digits.trim_end_matches('"').as_bytes().chunks_exact(16);
        let numbers = digits.filter_map(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some(i64::from_be_bytes(
                u64::from_str_radix(digits, 16).ok()?.to_le_bytes(),
            ))
        });
        return numbers.max();
    }
    let numbers = list.split(|c: char| !(c.is_ascii_digit() || c == '-'));
    numbers.filter_map(|number| number.parse().ok()).max()
}

/// How the list at `at` counts, by the attributes that stand in the same braces, and by the
/// operation.
fn numbering(text: &str, at: usize) -> Numbering {
    let (start, end) = braces_around(text, at);
    let attributes = &text[start..end];
    let has_channel = attributes
        .split_once("channel_handle")
        .and_then(|(_, rest)| rest.split_once("handle ="))
        .and_then(|(_, rest)| {
            rest.trim_start()
                .split(|c: char| !c.is_ascii_digit())
                .next()
        })
        .is_some_and(|digits| digits.parse::<u64>().is_ok_and(|channel| channel > 0));
    // Attributes that follow a region belong to a reduction.
    let before = text[..start].trim_end_matches(['<', ' ', '\n', '\r', '\t']);
    let operation = match before.ends_with("})") {
        true => "all_reduce",
        false => before.rsplit("stablehlo.").next().unwrap_or(""),
    };
    let exchanges = ["all_to_all", "collective_permute", "collective_broadcast"];
    let by_partition = exchanges.iter().any(|name| operation.starts_with(name));
    let is_global = attributes.contains("use_global_device_ids");
    Numbering::of(has_channel, is_global, by_partition)
}

/// The braces that `at` stands in, with all that they hold: where the pair opens and closes.
fn braces_around(text: &str, at: usize) -> (usize, usize) {
    let mut depth = 0usize;
    let opens = text[..at].bytes().rposition(|byte| match byte {
        b'{' if depth == 0 => true,
        b'{' => {
            depth -= 1;
            false
        }
        b'}' => {
            depth += 1;
            false
        }
        _ => false,
    });
    let mut depth = 0usize;
    let closes = text[at..].bytes().position(|byte| match byte {
        b'}' if depth == 0 => true,
        b'}' => {
            depth -= 1;
            false
        }
        b'{' => {
            depth += 1;
            false
        }
        _ => false,
    });
    (
        opens.unwrap_or(0),
        closes.map_or(text.len(), |closes| at + closes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, ";
    const GROUPS: &str = "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>";

    fn of(replicas: usize, partitions: usize, devices: usize) -> Reach {
        Reach {
            replicas,
            partitions,
            devices,
        }
    }

    #[test]
    fn lists_in_every_spelling() {
        for (list, wanted) in [
            (
                "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>",
                4,
            ),
            ("replica_groups=dense<[[0, 7]]>", 8),
            ("replica_groups = dense<0> : tensor<1x1xi64>", 1),
            ("replica_groups = dense<[[0, -1]]>", 1),
            ("replica_groups = dense<> : tensor<0x0xi64>", 0),
            ("source_target_pairs = dense<[[0, 5]]> : tensor<1x2xi64>", 6),
            (
                "replica_groups = dense<\"0x00000000000000000B00000000000000\">",
                12,
            ),
            ("replica_groups = dense<\"0x00000000000000\">", 0),
            ("replica_groups = dense_resource<x>", 0),
            ("other = dense<9>", 0),
        ] {
            let text = format!("\"stablehlo.all_reduce\"(%x) <{{{list}}}> ({{");
            assert_eq!(reach(&text), of(wanted, 0, 0), "{list}");
        }
        assert_eq!(reach("func.func @main() {}"), Reach::default());
        assert_eq!(reach("replica_groups"), Reach::default());
    }

    #[test]
    fn attributes_and_operations_say_what_is_counted() {
        let global = format!("{CHANNEL}{GROUPS}, use_global_device_ids");
        let on_channel = format!("{CHANNEL}{GROUPS}");
        let no_channel =
            format!("{GROUPS}, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>");
        let sum = "\"stablehlo.all_reduce\"(%x)";
        let region = "({ ^bb0(%a: tensor<f32>):\n stablehlo.return %a : tensor<f32>\n })";
        for (text, wanted) in [
            (format!("{sum} <{{{GROUPS}}}> {region}"), of(4, 0, 0)),
            (format!("{sum} {region} {{{GROUPS}}}"), of(4, 0, 0)),
            (format!("{sum} {region} {{{on_channel}}}"), of(4, 0, 0)),
            (format!("{sum} <{{{global}}}> {region}"), of(0, 0, 4)),
            (format!("{sum} {region} {{{global}}}"), of(0, 0, 4)),
            (
                format!("{sum} <{{{CHANNEL}mhlo.x = {{a = {{}}}}, {GROUPS}, y = {{}}, use_global_device_ids}}> {region}"),
                of(0, 0, 4),
            ),
            (
                format!("\"stablehlo.all_to_all\"(%x) <{{{GROUPS}}}>"),
                of(4, 0, 0),
            ),
            (
                format!("\"stablehlo.all_to_all\"(%x) <{{{on_channel}}}>"),
                of(0, 4, 0),
            ),
            (
                format!("\"stablehlo.all_to_all\"(%x) <{{{no_channel}}}>"),
                of(4, 0, 0),
            ),
            (
                format!("\"stablehlo.all_gather\"(%x) <{{{on_channel}}}>"),
                of(4, 0, 0),
            ),
            (
                format!("\"stablehlo.all_gather\"(%x) <{{{global}}}>"),
                of(0, 0, 4),
            ),
        ] {
            assert_eq!(reach(&text), wanted, "{text}");
        }
    }
}
