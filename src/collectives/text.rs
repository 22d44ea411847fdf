//! The collectives in a StableHLO text.

use super::{up_to, Counted, Reach};

/// Those that know of global ids, and those that don't.
const REDUCING: [&str; 3] = ["all_gather", "all_reduce", "reduce_scatter"];
const OTHERS: [&str; 3] = ["all_to_all", "collective_broadcast", "collective_permute"];

/// To whom the collectives speak, as far as their lists are spelled out. Other spellings, such
/// as resources, are seen once the program is compiled.
pub(super) fn reach(text: &str) -> Reach {
    let mut reach = Reach::default();
    let mut operations = operations(text).peekable();
    while let Some((name, at)) = operations.next() {
        let end = operations.peek().map_or(text.len(), |(_, next)| *next);
        let text = &text[at..end];
        for key in ["replica_groups", "source_target_pairs"] {
            let Some(found) = text.find(key) else {
                continue;
            };
            let Some(list) = dense(&text[found + key.len()..]) else {
                continue;
            };
            let attributes = around(text, found);
            let channel = handle(attributes).is_some_and(|handle| handle > 0);
            let global = attributes.contains("use_global_device_ids");
            let counted = Counted::of(REDUCING.contains(&name), channel, global);
            reach.add(counted, largest(list));
            reach.groupless |= name == "all_to_all" && list.trim().is_empty();
        }
    }
    reach
}

/// The names of the collectives and where each stands.
fn operations(text: &str) -> impl Iterator<Item = (&'static str, usize)> + '_ {
    const DIALECT: &str = "stablehlo.";
    text.match_indices(DIALECT).filter_map(|(at, _)| {
        let name = &text[at + DIALECT.len()..];
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let mut known = REDUCING.into_iter().chain(OTHERS);
        let name = known.find(|known| *known == &name[..end])?;
        (!in_comment(text, at)).then_some((name, at))
    })
}

/// Whether a place stands behind `//` in its line, but for one in quotes.
fn in_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or("");
    let mut slashes = line.match_indices("//");
    slashes.any(|(at, _)| line[..at].matches('"').count() % 2 == 0)
}

/// The inside of `= dense<..>`.
fn dense(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('=')?.trim_start();
    rest.strip_prefix("dense<")?.split('>').next()
}

/// How many there are when the largest number of a list is the last. Long lists are the bytes
/// of 64-bit integers in hexadecimal.
fn largest(list: &str) -> usize {
    if let Some(digits) = list.trim().strip_prefix("\"0x") {
        let digits = digits.trim_end_matches('"').as_bytes().chunks_exact(16);
        let numbers = digits.filter_map(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some(u64::from_str_radix(digits, 16).ok()?.swap_bytes() as i64)
        });
        return numbers.map(up_to).max().unwrap_or(0);
    }
    let numbers = list.split(|c: char| !(c.is_ascii_digit() || c == '-'));
    let numbers = numbers.filter_map(|number| number.parse().ok());
    numbers.map(up_to).max().unwrap_or(0)
}

/// The attributes among which the one at `at` stands: all between the braces around it.
fn around(text: &str, at: usize) -> &str {
    let mut depth = 0usize;
    let begin = text[..at].rfind(|c: char| {
        let opens = c == '{' && depth == 0;
        match c {
            '}' => depth += 1,
            '{' => depth = depth.saturating_sub(1),
            _ => {}
        }
        opens
    });
    let mut depth = 0usize;
    let mut quoted = false;
    let end = text[at..].find(|c: char| {
        let closes = c == '}' && depth == 0 && !quoted;
        match c {
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        closes
    });
    let begin = begin.unwrap_or(0);
    &text[begin..end.map_or(text.len(), |end| at + end)]
}

/// The number in `channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>`.
fn handle(attributes: &str) -> Option<i64> {
    let (_, rest) = attributes.split_once("channel_handle<")?;
    let (_, rest) = rest.split_once("handle")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '-'))?;
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";

    fn replicas(replicas: usize) -> Reach {
        Reach {
            replicas,
            ..Reach::default()
        }
    }

    fn partitions(partitions: usize) -> Reach {
        Reach {
            partitions,
            ..Reach::default()
        }
    }

    fn devices(devices: usize) -> Reach {
        Reach {
            devices,
            ..Reach::default()
        }
    }

    #[test]
    fn numbers_are_read_from_every_collective() {
        let groups = "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>";
        let pairs = "source_target_pairs=dense<[[0, 1], [5, 2]]> : tensor<2x2xi64>";
        let all_reduce = |attributes: &str| {
            // Before the region, as it is printed now, and behind it.
            let before = format!(
                "%1 = \"stablehlo.all_reduce\"(%0) <{{{attributes}}}> ({{\n^bb0(%a: tensor<f32>, \
                 %b: tensor<f32>):\n stablehlo.return %a : tensor<f32>\n }}) : (tensor<f32>) -> \
                 tensor<f32>"
            );
            let behind = format!(
                "%1 = \"stablehlo.all_reduce\"(%0) ({{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n \
                 stablehlo.return %a : tensor<f32>\n }}) {{{attributes}}} : (tensor<f32>) -> \
                 tensor<f32>"
            );
            assert_eq!(reach(&before), reach(&behind));
            reach(&before)
        };
        assert_eq!(all_reduce(groups), replicas(4));
        assert_eq!(all_reduce(&format!("{CHANNEL}, {groups}")), replicas(4));
        let global = format!("{CHANNEL}, {groups}, use_global_device_ids");
        assert_eq!(all_reduce(&global), devices(4));
        let permute = |attributes: &str| {
            reach(&format!(
                "%1 = \"stablehlo.collective_permute\"(%0) <{{{attributes}}}> : (tensor<f32>) -> \
                 tensor<f32>"
            ))
        };
        assert_eq!(permute(pairs), replicas(6));
        assert_eq!(permute(&format!("{pairs}, {CHANNEL}")), partitions(6));
        let none = "channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>";
        assert_eq!(permute(&format!("{pairs}, {none}")), replicas(6));
    }

    #[test]
    fn each_collective_has_its_own_attributes() {
        let text = format!(
            "\"stablehlo.all_gather\"(%0) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, \
             mhlo.frontend_attributes = {{a = \"}} {{\"}}, use_global_device_ids, {CHANNEL}}}> : \
             \"stablehlo.all_to_all\"(%0) <{{replica_groups = dense<0> : tensor<1x1xi64>}}> : \
             \"stablehlo.collective_permute\"(%0) <{{{CHANNEL}, source_target_pairs = \
             dense<[[2, 0]]> : tensor<1x2xi64>}}>"
        );
        let wanted = Reach {
            replicas: 1,
            partitions: 3,
            devices: 2,
            groupless: false,
        };
        assert_eq!(reach(&text), wanted);
    }

    #[test]
    fn what_is_no_list_of_a_collective() {
        let attribute = "replica_groups = dense<[[0, 7]]> : tensor<1x2xi64>";
        for text in [
            format!("// \"stablehlo.all_reduce\"(%0) <{{{attribute}}}>"),
            format!("\"stablehlo.all_reduced\"(%0) <{{{attribute}}}>"),
            format!("\"stablehlo.add\"(%0) <{{{attribute}}}>"),
            "\"stablehlo.all_reduce\"(%0) <{replica_groups = dense<\"0x07\"> : tensor<1x9xi64>}>"
                .to_owned(),
            "stablehlo.all_reduce".to_owned(),
            String::new(),
        ] {
            assert_eq!(reach(&text), Reach::default(), "{text}");
        }
        let quoted = format!("loc(\"a//b\") \"stablehlo.all_reduce\"(%0) <{{{attribute}}}>");
        assert_eq!(reach(&quoted), replicas(8));
        let empty = "\"stablehlo.all_to_all\"(%0) <{replica_groups = dense<> : tensor<0x0xi64>}>";
        assert!(reach(empty).groupless);
    }
}
