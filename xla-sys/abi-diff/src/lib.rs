//! Compares what `pjrt_sys` believes about the PJRT C ABI with upstream headers.
//!
//! With the feature `libclang`, `Abi::of_headers` reads headers by way of `bindgen`. All the rest
//! needs neither.

mod abi;
mod bindings;
mod diff;
mod headers;

pub use abi::{Abi, Place, Struct};
pub use bindings::read as read_bindings;
pub use diff::{differences, Difference};
pub use headers::find as find_headers;
