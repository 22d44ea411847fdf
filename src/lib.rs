//! XLA from Rust: load a PJRT plugin, compile StableHLO, run it on one device or on
//! many, and donate buffers by moving them.
//!
//! Nothing of XLA is linked: a [`Plugin`] is a shared library, the very one that JAX
//! loads, found on the machine or named by path.
//!
//! # A tour
//!
//! [`Plugin`] → [`Client`] → [`Device`]s. A [`Program`] (StableHLO or HLO) is compiled
//! with [`CompileOptions`] into an [`Executable`], whose [`Signature`] tells what it
//! takes, gives and donates ([`Program::signature`]: what it says of that before it is compiled). A
//! [`Buffer`] holds values on a device; running an
//! executable takes buffers and gives buffers. What happens later is an [`Event`] or a
//! [`HostRead`], both futures that can also be waited for.
//!
//! Values get to a device by copy ([`Buffer::from_host`]; [`Buffer::from_host_async`] goes on
//! while the program does), without one on a CPU ([`Buffer::from_host_vec`]), or in chunks
//! ([`ChunkedUpload`]); and back whole ([`Buffer::to_host`]), in part
//! ([`Buffer::read_range_into`]), or without a copy ([`Buffer::view`]).
//!
//! ```
//! use xla::{Buffer, Client, CompileOptions, Program};
//!
//! # fn main() -> xla::Result<()> {
//! let client = Client::cpu()?;
//! let device = client.device(0)?;
//! // w - 0.5 * g; the memory of `w` becomes that of the result.
//! let program = Program::from_text(
//!     r#"
//!     func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32},
//!                     %g: tensor<2xf32>) -> tensor<2xf32> {
//!       %rate = stablehlo.constant dense<0.5> : tensor<2xf32>
//!       %step = stablehlo.multiply %rate, %g : tensor<2xf32>
//!       %new = stablehlo.subtract %w, %step : tensor<2xf32>
//!       return %new : tensor<2xf32>
//!     }"#,
//! )?;
//! let step = client.compile(&program, &CompileOptions::new())?;
//! assert_eq!(step.signature().donated_bytes(), 8);
//!
//! let mut w = Buffer::from_host(&device, &[1f32, 2.], &[2])?;
//! let g = Buffer::from_host(&device, &[2f32, 2.], &[2])?;
//! for _ in 0..3 {
//!     w = step.run((w, &g))?.into_single()?;
//! }
//! assert_eq!(w.to_host::<f32>()?, [-2., -1.]);
//! # Ok(())
//! # }
//! ```
//!
//! # Donation is a move
//!
//! A program can declare that it reuses the memory of an input for an output (JAX:
//! `donate_argnums`). Other clients find out at run time that a donated buffer was used
//! again. Here an argument passed **by value is given** and gone, one passed **by
//! reference is lent** and never consumed, whatever the program says:
//!
//! ```compile_fail,E0382
//! # fn f(step: &xla::Executable, w: xla::Buffer, g: &xla::Buffer) -> xla::Result<()> {
//! let new = step.run((w, g))?.into_single()?;
//! w.to_host::<f32>()?; // error: borrow of moved value: `w`
//! # Ok(()) }
//! ```
//!
//! A call that is refused gives everything back: see [`CallError`]. What a program could donate
//! and doesn't, [`Executable::donation_advice`] tells.
//!
//! # Several devices
//!
//! A program with replicas or partitions runs on several devices in one launch,
//! [`Executable::run_per_device`]: a list of arguments for each, in the order of
//! [`Executable::devices`]. With types it is a [`ParallelFunction`], which takes and gives trees
//! on all devices ([`PerDevice`]). A program from a file is loaded as one by the
//! `load_parallel` that [`program`](macro@program) makes.
//!
//! # Devices that aren't there
//!
//! A [`Topology`] describes devices, TPUs or GPUs, that this machine needn't have.
//! [`Topology::compile`] gives a [`CompiledProgram`]: signature, donations, memory and costs, and
//! bytes that load where the devices are.
//!
//! # Kept programs
//!
//! Compiling takes long, loading what was compiled doesn't. A client whose options name a
//! [`CompileCache`] keeps its programs in a folder and finds them there at the next start.
//! [`Executable::serialize`] gives one as bytes, which [`Client::deserialize`] loads and
//! [`ExecutableHeader`] describes without a plugin.
//!
//! # Safety
//!
//! `unsafe` stands only in the crate's `pjrt` module and in `pjrt_sys`, the raw C API.
//! What can end the process inside a plugin is refused before the plugin sees it, as far as it
//! can be seen from outside. Three things are trusted: that a file named as a plugin is one; that
//! bytes given to [`Client::deserialize`], or lying in the folder of a [`CompileCache`], come from
//! [`Executable::serialize`] or [`CompiledProgram::serialize`]; and that all devices of a program
//! come to its collectives: on CPU the process ends a minute after one doesn't, because it took
//! another branch, or because the memory was used up on some devices and not on others.
#![deny(unsafe_code)]

// The macros name this crate `::xla`, also inside it.
extern crate self as xla;

mod account;
mod advice;
mod argument;
mod async_upload;
mod brief;
mod buffer;
mod cache;
mod call_error;
mod chunked_upload;
mod client;
mod collectives;
mod compile_cache;
mod compile_options;
mod compiled_program;
mod device;
mod device_assignment;
mod device_shape;
mod donation_report;
mod donations;
mod element;
mod element_value;
mod error;
mod event;
mod executable;
mod executable_header;
#[doc(hidden)]
pub mod fit;
mod float8;
mod footprint;
mod function;
mod function_error;
mod gpu_target;
mod hlo;
mod host_array;
mod host_read;
mod host_tree;
mod host_vec_error;
mod host_view;
mod label;
mod launch;
mod leaf_order;
mod library_file;
mod memory;
mod memory_account;
mod origin;
mod outputs;
mod parallel;
mod parameter;
mod partial_read;
mod per_device;
mod picture;
mod pjrt;
mod place;
mod plan;
mod plugin;
mod prefetch;
mod program;
mod program_summary;
mod proto;
mod replicas;
mod returned;
mod rng;
mod roots;
mod run;
mod search;
mod serialized;
mod sha256;
mod shape;
mod sharding;
mod signature;
mod spare;
mod spread;
mod topology;
mod topology_envelope;
mod topology_options;
mod tpu;
pub mod tree;
mod typed_program;
mod upload;
mod upload_shape;
mod value;
mod wait_any;
mod which;
mod xla_flags;

pub use advice::{DonationAdvice, DonationComparison, DonationPair, UnusedDonor};
pub use argument::{Argument, ArgumentList, Arguments};
pub use buffer::Buffer;
pub use cache::cache_dir;
pub use call_error::{CallError, GivenBack, Lost};
pub use chunked_upload::{ChunkedUpload, Progress};
pub use client::{Client, ClientOptions};
pub use compile_cache::{CompileCache, CompileCacheEntry, CompileCacheStats};
pub use compile_options::{CompileOptions, OptionValue};
pub use compiled_program::CompiledProgram;
pub use device::{Device, MemoryStats};
pub use device_assignment::DeviceAssignment;
pub use donation_report::{DonationReport, GivenLeaf};
pub use donations::Pairing;
pub use element::{Element, ElementType};
pub use error::{Code, Error, Result};
pub use event::Event;
pub use executable::{Executable, ExecutableMemoryStats};
pub use executable_header::ExecutableHeader;
pub use float8::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};
pub use function::Function;
pub use function_error::{FunctionError, LostLeaf, Survivor};
pub use gpu_target::GpuTarget;
pub use host_array::HostArray;
pub use host_read::HostRead;
pub use host_tree::HostTree;
pub use host_vec_error::HostVecError;
pub use host_view::HostView;
pub use label::{label, LabelScope};
pub use memory::{Memory, Place};
pub use memory_account::{DeviceAccount, LabelAccount, MemoryAccount};
pub use outputs::Outputs;
pub use parallel::{
    Each, One, ParallelFunction, ParallelParameter, ParallelParameters, Part, Results, Same, Split,
};
pub use parameter::{Give, Parameter, Parameters, Ref};
pub use per_device::{PartOf, PerDevice};
pub use pjrt::aligned::HostVec;
pub use pjrt::dma::PinnedVec;
pub use pjrt::host::Plain;
pub use pjrt::host_values::HostValues;
pub use pjrt::scope::Scope;
pub use plugin::{Plugin, PluginExtension, StableHloVersion};
pub use prefetch::Prefetch;
pub use program::{Program, ProgramFormat};
pub use rng::RngKey;
pub use search::{PluginOrigin, PluginSearch, SearchedPlace};
pub use shape::{Layout, Shape};
pub use sharding::{Block, Sharding};
pub use signature::{Donation, Input, Output, Signature};
pub use topology::{Topology, TopologyDevice};
pub use topology_options::TopologyOptions;
pub use tree::Tree;
pub use value::Value;
pub use wait_any::{wait_any, wait_any_timeout};
pub use which::Which;

pub use xla_macros::{program, Tree};

pub use half::{bf16, f16};
pub use num_complex::Complex;

/// The README's programs, compiled and run.
#[cfg(all(doctest, feature = "fetch-cpu"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
