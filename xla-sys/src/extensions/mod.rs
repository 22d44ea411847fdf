//! The extensions of the core API, one file a header.

mod abi_version;
mod callback;
mod collectives;
mod custom_partitioner;
mod device_event;
mod ffi;
mod gpu_custom_call;
mod layouts;
mod memory_descriptions;
mod phase_compile;
mod profiler;
mod profiler_api;
mod raw_buffer;
mod shardings;
mod stream;
mod triton;
mod xla_ffi;
mod xla_transform;

pub use abi_version::*;
pub use callback::*;
pub use collectives::*;
pub use custom_partitioner::*;
pub use device_event::*;
pub use ffi::*;
pub use gpu_custom_call::*;
pub use layouts::*;
pub use memory_descriptions::*;
pub use phase_compile::*;
pub use profiler::*;
pub use profiler_api::*;
pub use raw_buffer::*;
pub use shardings::*;
pub use stream::*;
pub use triton::*;
pub use xla_ffi::*;
pub use xla_transform::*;

pub(crate) const STRUCTS: &[&[crate::layout::Struct]] = &[
    abi_version::STRUCTS,
    custom_partitioner::STRUCTS,
    device_event::STRUCTS,
    ffi::STRUCTS,
    gpu_custom_call::STRUCTS,
    layouts::STRUCTS,
    memory_descriptions::STRUCTS,
    phase_compile::STRUCTS,
    profiler::STRUCTS,
    profiler_api::STRUCTS,
    raw_buffer::STRUCTS,
    shardings::STRUCTS,
    stream::STRUCTS,
    triton::STRUCTS,
    xla_ffi::STRUCTS,
    xla_transform::STRUCTS,
];

pub(crate) const ENUMS: &[&[crate::layout::Enum]] = &[
    callback::ENUMS,
    collectives::ENUMS,
    device_event::ENUMS,
    ffi::ENUMS,
    xla_ffi::ENUMS,
    xla_transform::ENUMS,
];
