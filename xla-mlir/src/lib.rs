//! What a `StableHLO` text says of its `@main`: inputs, outputs, donation. And the same text
//! with more inputs donated.
//!
//! A recursive-descent parser of MLIR's grammar as far as this needs it: module, aliases,
//! locations, attributes, types, the head of a function, in the usual form and in the generic
//! one. Bodies and other operations are passed over by their brackets. Whatever it is given,
//! it neither panics nor hangs, and it takes time in proportion to the length.
//!
//! ```
//! let text = "func.func @main(%w: tensor<2xf32>) -> tensor<2xf32> { return %w : tensor<2xf32> }";
//! let main = xla_mlir::parse(text.as_bytes())?;
//! assert_eq!(main.inputs[0].tensor.to_string(), "f32[2]");
//! assert!(!main.inputs[0].donated());
//!
//! let donating = xla_mlir::donate(text.as_bytes(), &[(0, xla_mlir::Donation::Output(0))])?;
//! let main = xla_mlir::parse(donating.as_bytes())?;
//! assert_eq!(main.inputs[0].aliasing_output, Some(0));
//! # Ok::<(), xla_mlir::Error>(())
//! ```
#![forbid(unsafe_code)]

mod attribute;
mod donate;
mod error;
mod form;
mod function;
mod generic;
mod lexer;
mod location;
mod module;
mod parser;
mod returned;
mod tensor;

pub use donate::{donate, Donation};
pub use error::Error;
pub use tensor::{Dim, Tensor};

/// The function that a program begins with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Main {
    /// What it takes, in order.
    pub inputs: Vec<Input>,
    /// What it gives, in order.
    pub outputs: Vec<Output>,
    /// `mhlo.num_replicas` of the module.
    pub replicas: Option<usize>,
    /// `mhlo.num_partitions` of the module.
    pub partitions: Option<usize>,
}

/// An input of `@main`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Input {
    /// The name in its location, such as `state['w']`.
    pub name: Option<String>,
    /// Its name in the text, such as `arg0`.
    pub value: Option<String>,
    /// Its type.
    pub tensor: Tensor,
    /// `tf.aliasing_output`: the output that may take its memory.
    pub aliasing_output: Option<usize>,
    /// `jax.buffer_donor`, with whatever value: its memory is offered to whichever output fits.
    pub buffer_donor: bool,
}

/// An output of `@main`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// `jax.result_info`, such as `result[0]['w']`.
    pub name: Option<String>,
    /// Its type.
    pub tensor: Tensor,
    /// The input that it is, where the function returns one as it is. Not told of texts in the
    /// generic form.
    pub returned: Option<usize>,
}

impl Input {
    /// Whether the program donates it.
    pub fn donated(&self) -> bool {
        self.aliasing_output.is_some() || self.buffer_donor
    }
}

/// Reads a program.
///
/// # Errors
/// It is no `StableHLO` text, or one that MLIR's parser would refuse in the parts that are
/// read; it has no `@main`; an input or output of `@main` is no tensor; its donations
/// contradict each other.
pub fn parse(code: &[u8]) -> Result<Main, Error> {
    module::read(form::text(code)?).map(|(main, _)| main)
}
