//! The fence: the only part of the library with `unsafe`.
//!
//! One Rust function per table entry in use: slices in, plain values or owned
//! handles out. No policy lives here; what is allowed is decided by the callers
//! in the rest of `src`, which never see a pointer. Two rules make it sound:
//! every object holds what made it, mostly a client ([`owned`]), and whatever a call
//! hands out is owned before its status is looked at ([`api`]).
//!
//! Notes cite what the runtime really does by its number in `FACTS.md`, beside this file.
//!
//! Of the safe layer the fence knows the error type, plain values and the
//! `Session` that owns the client.
#![allow(unsafe_code)]

pub(crate) mod aligned;
pub(crate) mod api;
pub(crate) mod buffer;
pub(crate) mod client;
mod completion;
mod description;
pub(crate) mod dma;
mod element_type;
mod environment;
pub(crate) mod event;
pub(crate) mod executable;
pub(crate) mod execute;
pub(crate) mod handed;
pub(crate) mod host;
pub(crate) mod host_values;
pub(crate) mod library;
mod named_value;
pub(crate) mod owned;
mod parts;
pub(crate) mod pooled;
mod raw;
pub(crate) mod read;
mod reaper;
mod release;
pub(crate) mod scope;
pub(crate) mod seen;
pub(crate) mod shared;
pub(crate) mod topology;
pub(crate) mod transfer;

pub(crate) use api::Api;
pub(crate) use owned::Owned;
