//! What a `StableHLO` text says of its `@main`: inputs, outputs, donation.
//!
//! A recursive-descent parser of MLIR's grammar as far as this needs it: module, aliases,
//! locations, attributes, types, the head of a function. Bodies and other operations are
//! passed over by their brackets. It works on plain bytes, so that tests and fuzzers can
//! include this folder by path; whatever it is given, it neither panics nor hangs, and it
//! takes time in proportion to the length.

mod attribute;
mod error;
mod form;
mod function;
mod lexer;
mod location;
mod module;
mod parser;
mod tensor;

pub(crate) use error::Error;
pub(crate) use tensor::Tensor;

/// The function that a program begins with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Main {
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    /// `mhlo.num_replicas` of the module.
    pub(crate) replicas: Option<usize>,
    /// `mhlo.num_partitions` of the module.
    pub(crate) partitions: Option<usize>,
}

/// An input of `@main`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    /// The name in its location, such as `state['w']`.
    pub(crate) name: Option<String>,
    /// Its name in the text, such as `arg0`.
    pub(crate) value: Option<String>,
    pub(crate) tensor: Tensor,
    /// `tf.aliasing_output`: the output that may take its memory.
    pub(crate) aliasing_output: Option<usize>,
    /// `jax.buffer_donor`: its memory is offered to whichever output fits.
    pub(crate) buffer_donor: bool,
}

/// An output of `@main`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    /// `jax.result_info`, such as `result[0]['w']`.
    pub(crate) name: Option<String>,
    pub(crate) tensor: Tensor,
}

impl Input {
    /// Whether the program donates it.
    pub(crate) fn donated(&self) -> bool {
        self.aliasing_output.is_some() || self.buffer_donor
    }
}

/// Reads a program.
///
/// # Errors
/// It is no `StableHLO` text, or one that MLIR's parser would refuse in the parts that are
/// read; it has no `@main`; an input or output of `@main` is no tensor; its donations
/// contradict each other.
pub(crate) fn parse(code: &[u8]) -> Result<Main, Error> {
    module::read(form::text(code)?)
}
