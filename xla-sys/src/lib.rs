//! The PJRT C ABI in Rust: the table, every struct, enum and callback of the core header and of
//! the extensions, under their C names. Written by hand, proved against the official header.
//!
//! Nothing here is safe to call; the crate `xla-pjrt` is the safe layer above.
//!
//! * A struct that begins with `struct_size` implements [`Args`]; [`Args::zeroed`] makes one.
//! * A slot of the table is an [`Option`] in [`PJRT_Api`], and an [`Entry`] in [`entry`] that knows
//!   its offset, its arguments and the API minor that brought it.
//! * An enum is a number with named values, since a plugin may know values that we don't.
//! * `PJRT_Client`, `PJRT_Buffer` and their like have no layout: they're only seen by pointer.
//! * A field that C calls `type` or `priv` is `type_` or `priv_`.
//! * [`layout`] has all of it as data.
#![no_std]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

#[macro_use]
mod macros;

mod args;
mod buffer;
mod client;
mod device;
mod enums;
mod error;
mod event;
mod executable;
mod extensions;
pub mod layout;
mod memory;
mod opaque;
mod plugin;
mod table;
mod topology;
mod transfer;

pub use args::*;
pub use buffer::*;
pub use client::*;
pub use device::*;
pub use enums::*;
pub use error::*;
pub use event::*;
pub use executable::*;
pub use extensions::*;
pub use memory::*;
pub use opaque::*;
pub use plugin::*;
pub use table::*;
pub use topology::*;
pub use transfer::*;
