//! A program and its donating version, compiled both.

use std::fmt;

use super::DonationAdvice;
use crate::client::Client;
use crate::compile_options::CompileOptions;
use crate::compiled_program::CompiledProgram;
use crate::error::{Error, Result};
use crate::executable::{Executable, ExecutableMemoryStats};
use crate::program::Program;
use crate::signature::{Donation, Signature};
use crate::topology::Topology;

/// What a [`DonationAdvice`] comes to, as the compiler states it: memory on each device
/// before and after. `E` is what the program compiled to: an [`Executable`], or a
/// [`CompiledProgram`] for devices that aren't there.
#[derive(Debug)]
#[non_exhaustive]
pub struct DonationComparison<E = Executable> {
    /// The program with the candidates donated.
    pub program: Program,
    /// That program, compiled.
    pub executable: E,
    /// The memory of the program as it was.
    pub before: ExecutableMemoryStats,
    /// The memory of [`program`](DonationComparison::program).
    pub after: ExecutableMemoryStats,
    /// The candidates that the compiler found no output for, by input.
    pub refused: Vec<usize>,
}

impl DonationAdvice {
    /// Compiles the program as it is and with all candidates donated, and compares the memory
    /// that both take. Nothing runs.
    ///
    /// # Errors
    /// The program is no StableHLO text, as [`Program::with_donations`]; it isn't the one that
    /// this is about, or compiled otherwise; one of the two doesn't compile; the plugin doesn't
    /// tell what memory a program takes.
    pub fn verify(
        &self,
        client: &Client,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<DonationComparison> {
        let compile = |program: &Program| client.compile(program, options);
        self.compare(&compile(program)?, program, compile)
    }

    /// As [`verify`](DonationAdvice::verify), for devices that aren't there: memory and
    /// donations are those on the TPU or GPU that the topology describes.
    ///
    /// # Errors
    /// As [`verify`](DonationAdvice::verify) and [`Topology::compile`].
    pub fn verify_for(
        &self,
        topology: &Topology,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<DonationComparison<CompiledProgram>> {
        let before = topology.compile(program, options)?;
        self.verify_compiled(&before, program, options)
    }

    /// As [`verify_for`](DonationAdvice::verify_for), where the program was compiled already
    /// as it is, with the same options: only the donating one is compiled.
    ///
    /// # Errors
    /// As [`verify_for`](DonationAdvice::verify_for).
    pub fn verify_compiled(
        &self,
        before: &CompiledProgram,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<DonationComparison<CompiledProgram>> {
        self.compare(before, program, |program| {
            before.topology().compile(program, options)
        })
    }

    fn compare<E: Compiled>(
        &self,
        before: &E,
        program: &Program,
        compile: impl FnOnce(&Program) -> Result<E>,
    ) -> Result<DonationComparison<E>> {
        let other = || {
            Error::invalid(format!(
                "the advice is about `{}`, but {} compiles to another program; take the advice of \
                 the program as compiled here",
                self.program,
                program.origin()
            ))
        };
        let donating = self.apply(program)?;
        if before.told().donation_advice() != *self {
            return Err(other());
        }
        let executable =
            compile(&donating).map_err(|error| error.context("with more inputs donated"))?;
        if !same_shapes(executable.told(), before.told()) {
            return Err(other());
        }
        let inputs = executable.told().inputs();
        let refused = self.candidates().iter().map(|pair| pair.input);
        let refused = refused.filter(|input| {
            let donation = inputs.get(*input).map(|input| input.donation());
            !matches!(donation, Some(Donation::Into { .. }))
        });
        let refused = refused.collect();
        Ok(DonationComparison {
            before: before.memory()?,
            after: executable.memory()?,
            refused,
            program: donating,
            executable,
        })
    }
}

/// Whether two programs take and give the same, as a program and its donating version do.
fn same_shapes(one: &Signature, other: &Signature) -> bool {
    let inputs = |signature: &Signature| {
        let inputs = signature.inputs().iter();
        inputs.map(|it| it.shape().clone()).collect::<Vec<_>>()
    };
    let outputs = |signature: &Signature| {
        let outputs = signature.outputs().iter();
        outputs.map(|it| it.shape().clone()).collect::<Vec<_>>()
    };
    inputs(one) == inputs(other) && outputs(one) == outputs(other)
}

/// What both kinds of compiled programs tell.
trait Compiled {
    fn told(&self) -> &Signature;
    fn memory(&self) -> Result<ExecutableMemoryStats>;
}

impl Compiled for Executable {
    fn told(&self) -> &Signature {
        self.signature()
    }

    fn memory(&self) -> Result<ExecutableMemoryStats> {
        self.memory_stats()
    }
}

impl Compiled for CompiledProgram {
    fn told(&self) -> &Signature {
        self.signature()
    }

    fn memory(&self) -> Result<ExecutableMemoryStats> {
        self.memory_stats()
    }
}

impl<E> DonationComparison<E> {
    /// How many bytes more of the outputs lie in donated inputs, on each device.
    pub fn alias_bytes_gained(&self) -> i64 {
        self.after.alias_bytes - self.before.alias_bytes
    }

    /// How many bytes less are in use at once, at the most; negative where it is more. `None`
    /// where the plugin doesn't tell.
    pub fn peak_bytes_saved(&self) -> Option<i64> {
        Some(self.before.peak_bytes? - self.after.peak_bytes?)
    }
}

/// Alias, scratch and peak memory, a line each.
impl<E> fmt::Display for DonationComparison<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (&self.before, &self.after);
        let lines = [
            ("alias", Some(before.alias_bytes), Some(after.alias_bytes)),
            ("temp", Some(before.temp_bytes), Some(after.temp_bytes)),
            ("peak", before.peak_bytes, after.peak_bytes),
        ];
        for (what, before, after) in lines {
            match (before, after) {
                (Some(before), Some(after)) => {
                    writeln!(f, "{what:<5}  {before:>12} -> {after:>12} bytes")?;
                }
                _ => writeln!(f, "{what:<5}  not told")?,
            }
        }
        if !self.refused.is_empty() {
            writeln!(f, "inputs without an output: {:?}", self.refused)?;
        }
        Ok(())
    }
}
