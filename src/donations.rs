//! Donations written into a program.

use crate::error::{Code, Error, Result};
use crate::program::{Program, ProgramFormat};

/// Which output an input is donated into, as [`Program::with_donations`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pairing {
    /// The output of this index (`tf.aliasing_output`): for programs with a single partition.
    Output(usize),
    /// The one that the compiler finds to fit (`jax.buffer_donor`): for programs with several
    /// partitions, whose outputs get their sizes on a device while compiling. What it finds
    /// none for stays [unused](crate::Donation::Unused).
    ByCompiler,
}

impl Program {
    /// The same program with more inputs donated: each by its index, with the output that
    /// takes its memory. Nothing else in the text changes.
    ///
    /// ```
    /// use xla::{Pairing, Program};
    ///
    /// let program = Program::from_text(
    ///     "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }",
    /// )?;
    /// let donating = program.with_donations(&[(0, Pairing::Output(0))])?;
    /// assert!(donating.as_bytes().starts_with(
    ///     b"func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32>"
    /// ));
    /// # Ok::<(), xla::Error>(())
    /// ```
    ///
    /// # Errors
    /// The program is no StableHLO text, or one whose head can't be read; it has no such input
    /// or output; an input is donated already, or an output taken; one is named twice.
    pub fn with_donations(&self, donations: &[(usize, Pairing)]) -> Result<Program> {
        let form = match self.format() {
            ProgramFormat::StableHloText => None,
            ProgramFormat::StableHloBytecode => Some("MLIR bytecode"),
            ProgramFormat::Hlo => Some("an HLO protobuf"),
        };
        if let Some(form) = form {
            return Err(Error::new(
                Code::Unimplemented,
                format!(
                    "{} is {form}, into which no donations can be written; export it as StableHLO \
                     text (in JAX `lowered.as_text()`), or with its donations (`donate_argnums`)",
                    self.origin()
                ),
            ));
        }
        let donations: Vec<(usize, xla_mlir::Donation)> = donations
            .iter()
            .map(|(input, pairing)| match pairing {
                Pairing::Output(output) => (*input, xla_mlir::Donation::Output(*output)),
                Pairing::ByCompiler => (*input, xla_mlir::Donation::Any),
            })
            .collect();
        let text = xla_mlir::donate(self.as_bytes(), &donations)
            .map_err(|error| Error::invalid(format!("{}: {error}", self.origin())))?;
        Program::text(text, self.origin().to_owned())
    }
}
