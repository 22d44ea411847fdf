//! How topologies are asked for.

use crate::error::{Error, Result};
use crate::gpu_target::GpuTarget;
use crate::value::Value;

/// How a topology is to be made: its name, and options that the plugin knows by name.
///
/// ```
/// let four_chips = xla::TopologyOptions::new("v5e:2x2");
/// let four_gpus = xla::TopologyOptions::gpu(&xla::GpuTarget::h100(), [1, 1, 4]);
/// # let _ = (four_chips, four_gpus);
/// ```
#[derive(Clone, Debug)]
pub struct TopologyOptions {
    pub(crate) name: String,
    pub(crate) named: Vec<(String, Value)>,
}

impl TopologyOptions {
    /// By the name that the plugin knows, such as `v5e:2x2` for libtpu.
    pub fn new(name: impl Into<String>) -> TopologyOptions {
        TopologyOptions {
            name: name.into(),
            named: Vec::new(),
        }
    }

    /// GPUs of one kind: `shape` is the number of partitions (GPUs that a fast network
    /// joins), of hosts in each, and of GPUs in each host.
    pub fn gpu(target: &GpuTarget, shape: [usize; 3]) -> TopologyOptions {
        let [partitions, hosts, gpus] = shape;
        TopologyOptions::new(target.name().unwrap_or("gpu"))
            .option("target_config", target.as_text())
            .option("topology", format!("{partitions}x{hosts}x{gpus}"))
    }

    /// Any option that the plugin knows by name, such as `chips_per_host_bounds` of libtpu
    /// (three integers). A second value for a name replaces the first.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> TopologyOptions {
        let name = name.into();
        self.named.retain(|(known, _)| *known != name);
        self.named.push((name, value.into()));
        self
    }

    /// Refuses what ends the process inside a plugin.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in &self.named {
            let wrong = |wanted: &str| {
                Err(Error::invalid(format!(
                    "topology option `{name}`: wanted {wanted}, got {value:?}"
                )))
            };
            match (name.as_str(), value) {
                ("target_config", Value::Str(text)) => {
                    GpuTarget::from_text(text.as_str())?;
                }
                ("target_config", _) => return wrong("a GpuTargetConfigProto as text"),
                ("topology", Value::Str(text)) if is_gpu_shape(text) => {}
                ("topology", _) => {
                    return wrong(
                        "partitions, hosts in each and GPUs in each host, such as `1x1x4`, 1 to \
                         65536 GPUs in all",
                    )
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Far more than anybody has; the plugin describes each one.
const MOST_GPUS: usize = 65_536;

fn is_gpu_shape(text: &str) -> bool {
    let numbers: Option<Vec<usize>> = text.split('x').map(|n| n.parse().ok()).collect();
    let Some([partitions, hosts, gpus]) = numbers.as_deref() else {
        return false;
    };
    let all = partitions
        .checked_mul(*hosts)
        .and_then(|n| n.checked_mul(*gpus));
    all.is_some_and(|all| (1..=MOST_GPUS).contains(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpu_shapes_are_three_numbers() {
        for good in ["1x1x1", "1x1x4", "2x2x8", "1x1x65536"] {
            assert!(is_gpu_shape(good), "{good}");
        }
        for bad in [
            "",
            "4",
            "1x4",
            "0x1x4",
            "1x1x0",
            "-1x1x4",
            "1x1x1x4",
            "ax1x4",
            "1000x1000x1000",
            "99999999999999999999x1x1",
            "4294967296x4294967296x4294967296",
            "1x1x 4",
        ] {
            assert!(!is_gpu_shape(bad), "{bad}");
        }
    }

    #[test]
    fn options_that_kill_are_refused() {
        let gpu = || TopologyOptions::gpu(&GpuTarget::h100(), [1, 1, 4]);
        assert!(gpu().check().is_ok());
        let bad: [(TopologyOptions, &str); 6] = [
            (gpu().option("target_config", ""), "threads_per_warp"),
            (gpu().option("target_config", 3), "Int(3)"),
            (gpu().option("target_config", true), "Bool(true)"),
            (gpu().option("topology", 4), "Int(4)"),
            (gpu().option("topology", "-1x1x4"), "1x1x4"),
            (TopologyOptions::gpu(&GpuTarget::h100(), [0, 1, 4]), "0x1x4"),
        ];
        for (options, word) in bad {
            let error = options.check().expect_err(word);
            assert!(error.message().contains(word), "{error}");
            assert_eq!(error.function(), None);
        }
    }
}
