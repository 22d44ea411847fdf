//! What a program donates, and what it could.

mod comparison;
mod pairs;

use std::fmt;

use crate::donations::Pairing;
use crate::error::Result;
use crate::executable::Executable;
use crate::program::Program;
use crate::shape::Shape;
use crate::signature::{plural, Donation, Signature};

pub use comparison::DonationComparison;

/// What a program donates, which of its offers can't be used, and which further inputs it
/// could donate, from [`Executable::donation_advice`] or [`Signature::donation_advice`].
///
/// An input could be donated where an output of the same size in the same memory of the
/// device has no donor yet: that is all that XLA asks. Among several, the output of the same
/// shape at the same place in the tree is taken, then one of the same shape, then any. An
/// input that the program returns as it is only goes into that output, which then costs no
/// copy. Sizes are those on a device ([`Input::device_bytes`](crate::Input::device_bytes)).
///
/// Only the caller knows whether it needs an input after the call. Donating it, the outputs
/// lie in its memory; what else a run needs can grow, if an input is read after the output
/// is written. [`verify`](DonationAdvice::verify) compiles both programs and tells, and
/// [`verify_for`](DonationAdvice::verify_for) does for devices that aren't there.
///
/// ```
/// use xla::{Client, CompileOptions, Program};
///
/// # fn main() -> xla::Result<()> {
/// let client = Client::cpu()?;
/// let program = Program::from_text(
///     "func.func @main(%w: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
///        %new = stablehlo.subtract %w, %g : tensor<2xf32>
///        return %new : tensor<2xf32>
///      }",
/// )?;
/// let options = CompileOptions::new();
/// let advice = client.compile(&program, &options)?.donation_advice();
/// assert_eq!(advice.candidates()[0].input, 0);
/// assert_eq!(advice.bytes_saved(), 8);
/// let compared = advice.verify(&client, &program, &options)?;
/// assert_eq!(compared.alias_bytes_gained(), 8);
/// let step = compared.executable; // `w` is donated now
/// assert_eq!(step.signature().donated_bytes(), 8);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DonationAdvice {
    program: String,
    donated: Vec<DonationPair>,
    unused: Vec<UnusedDonor>,
    candidates: Vec<DonationPair>,
    partitions: usize,
}

/// An input and the output that takes its memory, in a [`DonationAdvice`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DonationPair {
    /// The input's index.
    pub input: usize,
    /// The input's name, such as `state['w']`.
    pub name: Option<String>,
    /// The input's shape on one device.
    pub shape: Shape,
    /// The output's index.
    pub output: usize,
    /// The output's name, such as `result[0]['w']`.
    pub output_name: Option<String>,
    /// The output's shape on one device.
    pub output_shape: Shape,
    /// The bytes of memory that both take on each device.
    pub bytes: usize,
}

/// An input that is offered for donation and has no output, in a [`DonationAdvice`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusedDonor {
    /// The input's index.
    pub input: usize,
    /// The input's name.
    pub name: Option<String>,
    /// The input's shape on one device.
    pub shape: Shape,
    /// Why, as [`Signature::why_unused`] says it.
    pub reason: String,
}

impl Signature {
    /// What the program donates, and what it could. Of one that isn't compiled
    /// ([`Program::signature`]) it goes by the shapes that the program states, which are others
    /// than those on a device where there are several partitions; inputs that are offered to
    /// any output are left out.
    pub fn donation_advice(&self) -> DonationAdvice {
        let mut donated = Vec::new();
        let mut unused = Vec::new();
        for (index, input) in self.inputs().iter().enumerate() {
            match input.donation() {
                Donation::Into { output, .. } => {
                    donated.push(DonationPair::of(self, index, output))
                }
                Donation::Unused => unused.push(UnusedDonor {
                    input: index,
                    name: input.name().map(str::to_owned),
                    shape: input.shape().clone(),
                    reason: self.why_unused(index).unwrap_or_default(),
                }),
                // Whether it finds an output isn't known yet.
                Donation::Offered | Donation::None => {}
            }
        }
        let pairs = pairs::candidates(self).into_iter();
        DonationAdvice {
            program: self.name().to_owned(),
            donated,
            unused,
            candidates: pairs
                .map(|(input, output)| DonationPair::of(self, input, output))
                .collect(),
            partitions: self.partitions(),
        }
    }
}

impl Executable {
    /// What the program donates, and what it could.
    pub fn donation_advice(&self) -> DonationAdvice {
        self.signature().donation_advice()
    }
}

impl DonationPair {
    fn of(signature: &Signature, index: usize, output_index: usize) -> DonationPair {
        let input = &signature.inputs()[index];
        let output = &signature.outputs()[output_index];
        DonationPair {
            input: index,
            name: input.name().map(str::to_owned),
            shape: input.shape().clone(),
            output: output_index,
            output_name: output.name().map(str::to_owned),
            output_shape: output.shape().clone(),
            bytes: input.device_bytes(),
        }
    }
}

impl DonationAdvice {
    /// The inputs that the program donates, by index.
    pub fn donated(&self) -> &[DonationPair] {
        &self.donated
    }

    /// The inputs that it offers in vain, by index.
    pub fn unused(&self) -> &[UnusedDonor] {
        &self.unused
    }

    /// The inputs that it could donate, by index; an output stands here once at most.
    pub fn candidates(&self) -> &[DonationPair] {
        &self.candidates
    }

    /// The bytes on each device that all [candidates](DonationAdvice::candidates) together
    /// would give to outputs.
    pub fn bytes_saved(&self) -> usize {
        self.candidates.iter().map(|pair| pair.bytes).sum()
    }

    /// The candidates as [`Program::with_donations`] takes them: paired by the compiler where
    /// the program has several partitions.
    pub fn donations(&self) -> Vec<(usize, Pairing)> {
        let pairing = |pair: &DonationPair| match self.partitions {
            1 => Pairing::Output(pair.output),
            _ => Pairing::ByCompiler,
        };
        let candidates = self.candidates.iter();
        candidates.map(|pair| (pair.input, pairing(pair))).collect()
    }

    /// The program that this is about, with all candidates donated.
    ///
    /// # Errors
    /// As [`Program::with_donations`].
    pub fn apply(&self, program: &Program) -> Result<Program> {
        program.with_donations(&self.donations())
    }
}

/// A line for each input that is donated, could be, or is offered in vain.
impl fmt::Display for DonationAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.program)?;
        match self.candidates.len() {
            0 => writeln!(f, "no further input could be donated")?,
            count => writeln!(
                f,
                "{} could be donated, {} on each device",
                plural(count, "more input"),
                plural(self.bytes_saved(), "byte")
            )?,
        }
        let mut rows: Vec<(usize, [String; 6])> = Vec::new();
        let pairs = self.donated.iter().map(|pair| ("donated", pair));
        let candidates = self.candidates.iter().map(|pair| ("could be", pair));
        for (what, pair) in pairs.chain(candidates) {
            rows.push((pair.input, row(what, pair)));
        }
        for donor in &self.unused {
            let mut cells = cells("unused", donor.input, &donor.shape, &donor.name);
            cells[4].clone_from(&donor.reason);
            rows.push((donor.input, cells));
        }
        rows.sort_by_key(|(input, _)| *input);
        let mut widths = [0; 6];
        for (_, cells) in &rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = cell.chars().count().max(*width);
            }
        }
        for (_, cells) in &rows {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                if width > 0 {
                    line += &format!("  {cell:<width$}");
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn cells(what: &str, input: usize, shape: &Shape, name: &Option<String>) -> [String; 6] {
    [
        what.to_owned(),
        format!("input {input}"),
        shape.to_string(),
        name.clone().unwrap_or_default(),
        String::new(),
        String::new(),
    ]
}

fn row(what: &str, pair: &DonationPair) -> [String; 6] {
    let mut cells = cells(what, pair.input, &pair.shape, &pair.name);
    cells[4] = format!("into output {}", pair.output);
    if pair.output_shape != pair.shape {
        cells[4] += &format!(", {}", pair.output_shape);
    }
    if let Some(name) = &pair.output_name {
        cells[4] += &format!(", {name}");
    }
    cells[5] = plural(pair.bytes, "byte");
    cells
}
