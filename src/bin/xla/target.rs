//! What a program is compiled for.

use std::fmt;
use std::str::FromStr;

use crate::plugin_choice::MOST_CPU_DEVICES;

/// A target of `xla compile`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The processor, as so many devices.
    Cpu(Option<usize>),
    /// By libtpu's name, such as `v5e:2x2`.
    Tpu(String),
    /// The GPU's kind, and the number of partitions, hosts in each and GPUs in each host.
    Cuda(Gpu, [usize; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gpu {
    A100,
    H100,
}

/// The kinds of targets, for messages.
const KNOWN: &str = "cpu or cpu:N; tpu:KIND:CHIPS, such as tpu:v5e:2x2, where KIND is one of v2, v3, v4, v5e, v5p, v6e, tpu7x; \
     cuda:KIND:PARTITIONSxHOSTSxGPUS, such as cuda:h100:1x1x4, where KIND is one of a100, h100";

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let known = match parts[..] {
            ["cpu"] => Some(Target::Cpu(None)),
            ["cpu", count] => {
                let count = count
                    .parse()
                    .ok()
                    .filter(|count| (1..=MOST_CPU_DEVICES).contains(count));
                count.map(|count| Target::Cpu(Some(count)))
            }
            ["tpu", kind, chips] if !kind.is_empty() && !chips.is_empty() => {
                Some(Target::Tpu(format!("{kind}:{chips}")))
            }
            ["cuda", kind, shape] => {
                let kind = match kind {
                    "a100" => Some(Gpu::A100),
                    "h100" => Some(Gpu::H100),
                    _ => None,
                };
                let shape: Option<Vec<usize>> = shape.split('x').map(|n| n.parse().ok()).collect();
                let shape = shape.and_then(|shape| <[usize; 3]>::try_from(shape).ok());
                kind.zip(shape)
                    .map(|(kind, shape)| Target::Cuda(kind, shape))
            }
            _ => None,
        };
        known.ok_or_else(|| format!("`{text}` is no target that is known: wanted {KNOWN}"))
    }
}

/// As it is written on the command line.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Cpu(None) => f.write_str("cpu"),
            Target::Cpu(Some(count)) => write!(f, "cpu:{count}"),
            Target::Tpu(name) => write!(f, "tpu:{name}"),
            Target::Cuda(kind, [partitions, hosts, gpus]) => {
                let kind = match kind {
                    Gpu::A100 => "a100",
                    Gpu::H100 => "h100",
                };
                write!(f, "cuda:{kind}:{partitions}x{hosts}x{gpus}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        let read = |text: &str| text.parse::<Target>().expect(text);
        assert_eq!(read("cpu"), Target::Cpu(None));
        assert_eq!(read("cpu:4"), Target::Cpu(Some(4)));
        assert_eq!(read("tpu:v5e:2x2"), Target::Tpu("v5e:2x2".to_owned()));
        assert_eq!(read("cuda:h100:1x2x4"), Target::Cuda(Gpu::H100, [1, 2, 4]));
        for bad in [
            "",
            "gpu",
            "cpu:0",
            "cpu:2049",
            "cpu:x",
            "tpu",
            "tpu:v5e",
            "tpu::",
            "cuda:h200:1x1x4",
            "cuda:h100:4",
            "cuda:h100:1x1xa",
        ] {
            let error = bad.parse::<Target>().expect_err(bad);
            assert!(
                error.contains("tpu:v5e:2x2") && error.contains("a100, h100"),
                "{error}"
            );
        }
    }
}
