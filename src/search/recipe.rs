//! Where each kind of plugin may be, and how to get one.

use crate::cache::{self, Wheel};

/// The places where one kind of plugin may be.
pub(crate) struct Recipe {
    /// The platform's name in lower case, the same that JAX uses.
    pub(crate) platform: &'static str,
    /// The variable in which a user names the file.
    pub(super) variable: &'static str,
    /// The variable that JAX reads for this platform alone.
    pub(super) jax_variable: Option<&'static str>,
    /// The feature that fetches the plugin, and the path that it has baked if it was on.
    pub(super) fetched: Option<(&'static str, Option<&'static str>)>,
    /// Wheels that may be in the cache.
    pub(super) pinned: &'static [Wheel],
    /// The plugin's path below `site-packages` in each wheel known to carry one, the better ones first.
    pub(super) installed: &'static [&'static str],
    /// What to do to get one, up to the command.
    pub(super) remedy: &'static str,
    /// The command that installs one.
    pub(super) command: &'static str,
}

/// XLA's own backend for the host.
pub(crate) const CPU: Recipe = Recipe {
    platform: "cpu",
    variable: "XLA_PJRT_CPU_PLUGIN",
    jax_variable: None,
    fetched: Some(("fetch-cpu", option_env!("XLA_PJRT_BAKED_CPU_PLUGIN"))),
    pinned: &[cache::CPU, cache::CPU_0_106, cache::CPU_0_81],
    installed: &[cache::CPU.file, cache::CPU_0_106.file, cache::CPU_0_81.file],
    remedy: "build with the feature `fetch-cpu`, or run",
    command: "python3 -m pip install --no-deps lammps-jax-pjrt-cpu",
};

/// NVIDIA GPUs.
pub(crate) const CUDA: Recipe = Recipe {
    platform: "cuda",
    variable: "XLA_PJRT_CUDA_PLUGIN",
    jax_variable: None,
    fetched: Some(("fetch-cuda", option_env!("XLA_PJRT_BAKED_CUDA_PLUGIN"))),
    // Fetched for compiling, it lacks the libraries that runs need: found by the feature alone.
    pinned: &[],
    installed: &[
        "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        cache::CUDA.file,
        "xla_plugins/xla_cuda13_pjrt/xla_gpu_pjrt.so",
        "xla_plugins/xla_cuda12_pjrt/xla_gpu_pjrt.so",
    ],
    remedy: "build with the feature `fetch-cuda` (to compile without a GPU), or run",
    command: "python3 -m pip install \"jax-cuda13-plugin[with-cuda]\"",
};

/// Google's TPUs.
pub(crate) const TPU: Recipe = Recipe {
    platform: "tpu",
    variable: "XLA_PJRT_TPU_PLUGIN",
    jax_variable: Some("TPU_LIBRARY_PATH"),
    fetched: Some(("fetch-tpu", option_env!("XLA_PJRT_BAKED_TPU_PLUGIN"))),
    pinned: &[cache::TPU],
    installed: &[cache::TPU.file],
    remedy: "build with the feature `fetch-tpu`, or run",
    command: "python3 -m pip install libtpu",
};

/// AMD GPUs.
pub(crate) const ROCM: Recipe = Recipe {
    platform: "rocm",
    variable: "XLA_PJRT_ROCM_PLUGIN",
    jax_variable: None,
    fetched: None,
    pinned: &[],
    installed: &[
        "jax_plugins/xla_rocm10/xla_rocm_plugin.so",
        "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
    ],
    remedy: "run",
    command: "python3 -m pip install jax-rocm7-pjrt",
};
