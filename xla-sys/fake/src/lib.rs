//! A PJRT plugin made of Rust, for tests of what calls plugins: it counts live objects, notes every
//! breach of the C API's contract, and fails on demand.
//!
//! A [`Fake`] has a [table](Fake::table) of its own, as a plugin's `GetPjrtApi` gives one. Clients,
//! devices, memories, buffers, events and executables really work, on host memory. A process can
//! have 64 fakes at once, which know nothing of each other.
//!
//! ```
//! use pjrt_fake::{Code, Failure, Fake};
//!
//! let fake = Fake::new();
//! // SAFETY: the table stays as long as the process, and its functions keep the contract.
//! let client = unsafe { xla::Plugin::from_table(fake.table()) }?.client()?;
//! let program = xla::Program::from_text(
//!     "input f32[2] donated 0\n\
//!      input f32[2]\n\
//!      output f32[2] = add 0 1",
//! )?;
//! let step = client.compile(&program, &xla::CompileOptions::new())?;
//! let device = client.device(0)?;
//! let w = xla::Buffer::from_host(&device, &[1f32, 2.], &[2])?;
//! let g = xla::Buffer::from_host(&device, &[3f32, 4.], &[2])?;
//! let w = step.run((w, &g))?.into_single()?;
//! assert_eq!(w.to_host::<f32>()?, [4., 6.]);
//! assert_eq!(fake.executions()[0].non_donatable_input_indices, [1]);
//!
//! fake.fail("PJRT_LoadedExecutable_Execute", Failure::new(Code::INTERNAL, "no").with_handles());
//! assert!(step.run((w, &g)).is_err());
//! drop((g, step, device, client));
//! fake.assert_clean();
//! # Ok::<(), xla::Error>(())
//! ```
//!
//! # Programs
//!
//! `PJRT_Client_Compile` takes lines of text as format `mlir`. What stands behind a `#` is a comment.
//!
//! | line | meaning |
//! |---|---|
//! | `program NAME` | the module's name, `main` unless given |
//! | `input FORM` | the next input |
//! | `input FORM donated N` | it may alias output `N` |
//! | `input FORM must N` | it must alias output `N` |
//! | `input FORM donor` | it's offered, and no output takes it |
//! | `input ... named NAME` | its name in the compiled module, to the end of the line |
//! | `output FORM = copy A` | the next output: input `A` |
//! | `output FORM = add A B` | also `subtract`, `multiply` |
//! | `output FORM = all_reduce A` | the sum of input `A` over all devices; makes the program `collective` |
//! | `output FORM = const X` | the number everywhere |
//! | `collective` | the devices speak to each other, or seem to |
//! | `mhlo.num_replicas = N` | the compile options have to agree; also `mhlo.num_partitions` |
//! | `tupled` | the compiled module has one parameter, a tuple |
//! | `format hlo` | how the compiled module is given back; `hlo_with_config` unless this is said |
//!
//! A form is an element type and dimensions, `f32[2,3]`, and the order of the dimensions if it isn't
//! row-major, the fastest varying first: `f32[2,3]{0,1}`. Arithmetic takes elements in the order in
//! which they lie, as `f64`, and knows 8 to 64 bit integers, `f32` and `f64`.
//!
//! `PJRT_TopologyDescription_Create` takes the name `fake:N`, for N devices, and no options; `PJRT_Compile` compiles
//! for those without a client.
//!
//! # What it does as real plugins do
//!
//! * It checks arguments of a run by number, byte size, device and whether their memory is there, not by
//!   type and dimensions. With several devices a bad argument of one costs the donated ones of the rest.
//! * An aliased input is consumed unless its index is in `non_donatable_input_indices`, or there's an
//!   external reference to it; then it's copied.
//! * Host memory that is aligned to 64 bytes is used in place with the zero-copy semantics; the output of
//!   a run lives in donated mutable host memory, while immutable memory is copied. The done event fires when
//!   neither a buffer, nor an unfinished run or copy uses the memory.
//! * A buffer that is filled chunk by chunk is ready when its last chunk has arrived; it fails when the
//!   manager is destroyed before that.
//! * Errors surface late: reading a buffer whose memory is gone, or whose run failed, reports success and
//!   the event has the error.
//!
//! # What it notes
//!
//! [`Fake::violations`] has a line for each use of a handle after it was destroyed, of one that is null,
//! unknown or of another kind; each second destroy; each client or topology that is destroyed before what it made,
//! with a copy to the host under way or in a callback; each argument struct that is too short; each
//! event that is asked for its error too early; each chunk that overlaps with another, leaves bytes out or
//! comes too late; and for what ends a real plugin's process.
#![allow(unsafe_code)]

mod buffer;
mod call;
mod client;
mod device;
mod error;
mod event;
mod executable;
mod execute;
mod failure;
mod fake;
mod form;
mod hlo;
mod program;
mod record;
mod registry;
mod slots;
mod state;
mod storage;
mod table;
mod text;
mod topology;
mod transfer;
mod upload;
mod values;

pub use failure::Failure;
pub use fake::{Builder, Fake};
pub use pjrt_sys::PJRT_Error_Code as Code;
pub use record::{Call, Execution, Live};
pub use state::{Callbacks, EventKind, Readiness};
pub use table::{Table, ENTRIES};

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
