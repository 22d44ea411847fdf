//! XLA from Rust: load a PJRT plugin, compile StableHLO, run it on one device or
//! many, and donate buffers by moving them.
#![deny(unsafe_code)]

mod argument;
mod buffer;
mod cache;
mod call_error;
mod client;
mod compile_options;
mod device;
mod device_shape;
mod element;
mod error;
mod event;
mod executable;
mod float8;
mod host_read;
mod launch;
mod library_file;
mod memory;
mod outputs;
mod pjrt;
mod plugin;
mod program;
mod proto;
mod search;
mod serialized;
mod shape;
mod signature;
mod upload;
mod value;
mod xla_flags;

pub use argument::{Argument, ArgumentList, Arguments};
pub use buffer::Buffer;
pub use cache::cache_dir;
pub use call_error::{CallError, GivenBack, Lost};
pub use client::{Client, ClientOptions};
pub use compile_options::{CompileOptions, DeviceAssignment, OptionValue};
pub use device::{Device, MemoryStats};
pub use element::{Element, ElementType};
pub use error::{Code, Error, Result};
pub use event::Event;
pub use executable::{Executable, ExecutableMemoryStats};
pub use float8::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};
pub use host_read::HostRead;
pub use memory::{Memory, Place};
pub use outputs::Outputs;
pub use plugin::{Plugin, StableHloVersion};
pub use program::{Program, ProgramFormat};
pub use shape::{Layout, Shape};
pub use signature::{Donation, Input, Output, Signature};
pub use value::Value;

pub use half::{bf16, f16};
pub use num_complex::Complex;
