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
        self.compare(program, |program| client.compile(program, options))
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
        self.compare(program, |program| topology.compile(program, options))
    }

    fn compare<E: Compiled>(
        &self,
        program: &Program,
        compile: impl Fn(&Program) -> Result<E>,
    ) -> Result<DonationComparison<E>> {
        let donating = self.apply(program)?;
        let compiled = compile(program)?;
        if compiled.told().donation_advice() != *self {
            return Err(Error::invalid(format!(
                "the advice is about `{}`, but {} compiles to another program; take the advice of \
                 the program as compiled here",
                self.program,
                program.origin()
            )));
        }
        let before = compiled.memory()?;
        drop(compiled);
        let executable =
            compile(&donating).map_err(|error| error.context("with more inputs donated"))?;
        let inputs = executable.told().inputs();
        let refused = self.candidates().iter().map(|pair| pair.input);
        let refused = refused.filter(|input| {
            let donation = inputs.get(*input).map(|input| input.donation());
            !matches!(donation, Some(Donation::Into { .. }))
        });
        let refused = refused.collect();
        Ok(DonationComparison {
            before,
            after: executable.memory()?,
            refused,
            program: donating,
            executable,
        })
    }
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
