//! GPUs described without being there.

use std::fmt;

use crate::error::{Error, Result};

/// A GPU as XLA's compiler sees it: a `GpuTargetConfigProto` in protobuf's text format, which
/// is the topology option `target_config` of the CUDA and ROCm plugins.
///
/// ```
/// let gpu = xla::GpuTarget::h100();
/// assert_eq!(gpu.name(), Some("NVIDIA H100 80GB HBM3"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct GpuTarget {
    text: String,
}

/// Fields without which the compiler divides by zero, or reckons with a GPU that has no room.
const NEEDED: [&str; 19] = [
    "threads_per_block_limit",
    "threads_per_warp",
    "shared_memory_per_block",
    "shared_memory_per_core",
    "threads_per_core_limit",
    "core_count",
    "fpus_per_core",
    "block_dim_limit_x",
    "block_dim_limit_y",
    "block_dim_limit_z",
    "thread_dim_limit_x",
    "thread_dim_limit_y",
    "thread_dim_limit_z",
    "memory_bandwidth",
    "l2_cache_size",
    "clock_rate_ghz",
    "device_memory_size",
    "registers_per_core_limit",
    "registers_per_block_limit",
];

impl GpuTarget {
    /// NVIDIA H100 SXM with 80 GB.
    pub fn h100() -> GpuTarget {
        GpuTarget {
            text: include_str!("gpu_target/h100_sxm_80gb.txtpb").to_owned(),
        }
    }

    /// NVIDIA A100 SXM with 80 GB.
    pub fn a100() -> GpuTarget {
        GpuTarget {
            text: include_str!("gpu_target/a100_sxm_80gb.txtpb").to_owned(),
        }
    }

    /// Any other, by its text. A topology that a client with the GPU has tells it: the
    /// attribute `target_config` of [`Topology::attributes`](crate::Topology::attributes).
    ///
    /// # Errors
    /// A field is missing or 0 with which the compiler would end the process. The plugin
    /// checks the rest when the topology is made.
    pub fn from_text(text: impl Into<String>) -> Result<GpuTarget> {
        let text = text.into();
        let lacking: Vec<&str> = NEEDED
            .into_iter()
            .filter(|field| !number(&text, field).is_some_and(|value| value > 0.))
            .collect();
        if !lacking.is_empty() {
            return Err(Error::invalid(format!(
                "the GPU target (GpuTargetConfigProto as text, {} bytes) needs a number above 0 for \
                 {}; the compiler would end the process",
                text.len(),
                lacking.join(", ")
            )));
        }
        // Written for the vendor: cuda_compute_capability or rocm_compute_capability.
        if !text.contains("_compute_capability") {
            return Err(Error::invalid(
                "the GPU target has neither a cuda_compute_capability nor a \
                 rocm_compute_capability, so nothing says which code to make",
            ));
        }
        Ok(GpuTarget { text })
    }

    /// The text.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// How the GPU calls itself (`device_description_str`); `None` where the text doesn't say.
    pub fn name(&self) -> Option<&str> {
        let (_, rest) = self.text.split_once("device_description_str")?;
        rest.split('"').nth(1)
    }
}

impl fmt::Debug for GpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuTarget({})", self.name().unwrap_or("unnamed"))
    }
}

/// The number in `field: 32`.
fn number(text: &str, field: &str) -> Option<f64> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    lines
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "{},;".contains(c)))
        .collect::<Vec<_>>()
        .join(" ")
        .split(&format!(" {field}"))
        .skip(1)
        .find_map(|rest| {
            let rest = rest.trim_start().strip_prefix(':')?;
            rest.split_whitespace().next()?.parse().ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_targets_are_whole() {
        for target in [GpuTarget::h100(), GpuTarget::a100()] {
            let again = GpuTarget::from_text(target.as_text()).expect("whole");
            assert_eq!(again, target);
            assert!(target.name().is_some_and(|name| name.contains("80GB")));
        }
        assert_eq!(
            number(GpuTarget::h100().as_text(), "core_count"),
            Some(132.)
        );
        assert_eq!(
            number(GpuTarget::a100().as_text(), "clock_rate_ghz"),
            Some(1.41)
        );
    }

    #[test]
    fn every_needed_field_is_asked_for() {
        let whole = GpuTarget::h100();
        for field in NEEDED {
            let named = format!("  {field}:");
            let without: Vec<&str> = whole
                .as_text()
                .lines()
                .filter(|line| !line.starts_with(&named))
                .collect();
            assert_eq!(
                without.len() + 1,
                whole.as_text().lines().count(),
                "{field}"
            );
            let error = GpuTarget::from_text(without.join("\n")).expect_err(field);
            assert!(error.message().contains(field), "{error}");
            for bad in ["0", "-1", "\"32\"", "0.0"] {
                let changed = format!("{}\n  {field}: {bad}", without.join("\n"));
                assert!(GpuTarget::from_text(changed).is_err(), "{field}: {bad}");
            }
        }
        assert!(GpuTarget::from_text("").is_err());
        let unknown = whole.as_text().replace("cuda_compute_capability", "cuda");
        assert!(GpuTarget::from_text(unknown).is_err());
    }

    #[test]
    fn texts_are_read_in_any_shape() {
        let whole = GpuTarget::h100().as_text().replace('\n', " ");
        assert!(GpuTarget::from_text(whole).is_ok(), "on one line");
        let spaced = GpuTarget::h100().as_text().replace(": ", " : ");
        assert!(GpuTarget::from_text(spaced).is_ok(), "spaces before colons");
        let packed = GpuTarget::h100().as_text().replace(": ", ":");
        assert!(GpuTarget::from_text(packed).is_ok(), "no spaces");
        let comment = GpuTarget::h100()
            .as_text()
            .replace("threads_per_warp", "# threads_per_warp");
        assert!(GpuTarget::from_text(comment).is_err(), "in a comment");
    }
}
