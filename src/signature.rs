//! What a compiled program takes, gives and donates.

mod display;
mod reading;

use std::fmt;
use std::sync::Arc;

use crate::device_shape::DeviceShape;
use crate::error::{Code, Error, Result};
use crate::footprint::Footprint;
use crate::program::{Program, ProgramFormat};
use crate::shape::{Layout, Shape};
use crate::sharding::Sharding;

/// What a program takes and gives on each of its devices, read from the program as
/// compiled (`PJRT_Executable_OptimizedProgram`): shapes are those of one device, and an array
/// of a partitioned program also has a [`Sharding`].
///
/// [`Program::signature`] gives that of a program as it is written, before it is compiled, which
/// knows less.
///
/// It displays as a table, one line an input and output.
#[derive(Clone, Debug)]
pub struct Signature {
    name: String,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    replicas: usize,
    partitions: usize,
    has_collectives: bool,
    is_compiled: bool,
}

/// An input of a program.
#[derive(Clone)]
pub struct Input {
    name: Option<String>,
    form: Arc<DeviceShape>,
    layout: Layout,
    footprint: Footprint,
    donation: Donation,
    sharding: Option<Sharding>,
    /// The shape that the program's text states, over all partitions.
    stated: Option<Shape>,
}

/// An output of a program.
#[derive(Clone)]
pub struct Output {
    name: Option<String>,
    form: Arc<DeviceShape>,
    layout: Layout,
    footprint: Footprint,
    returned: Option<usize>,
    sharding: Option<Sharding>,
    /// As of an input.
    stated: Option<Shape>,
    /// The input whose memory it takes over when that is given.
    donor: Option<usize>,
}

/// What becomes of an input that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Donation {
    /// Its memory becomes that of an output.
    Into {
        /// The output's index.
        output: usize,
        /// Whether the program can't run without (a must-alias of HLO): such an input
        /// can't be lent.
        required: bool,
    },
    /// The program offers it for donation, but the compiler found no output for it.
    /// Given, its memory is released after the run.
    Unused,
    /// The program offers it for donation, and the compiler will look for an output: only of a
    /// program that isn't compiled ([`Program::signature`]).
    Offered,
    /// The program doesn't donate it. Given, its memory is released after the run.
    None,
}

impl Input {
    /// The name that the program gives it, such as `state['params']['w1']`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The element type and dimensions on one device.
    pub fn shape(&self) -> &Shape {
        &self.form.shape
    }

    /// How it is spread over the partitions of a replica. `None` where the program has several
    /// and states no sharding for it, or one of a form that isn't known here; with a single
    /// partition it is whole.
    pub fn sharding(&self) -> Option<&Sharding> {
        self.sharding.as_ref()
    }

    /// The element type and dimensions over all partitions of a replica. `None` where
    /// the sharding isn't known. Where the compiler padded an axis so that it can be cut into
    /// equal parts, the padding is counted, unless the program was compiled from text.
    pub fn global_shape(&self) -> Option<Shape> {
        let whole = self.sharding.as_ref()?.global_shape(self.shape()).ok()?;
        Some(self.stated.clone().unwrap_or(whole))
    }

    /// The order of its dimensions in the device's memory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bytes that it takes in a device's memory, as far as its layout as compiled tells:
    /// elements may be packed (`s4`) and dimensions padded (to tiles, on TPU).
    pub fn device_bytes(&self) -> usize {
        self.footprint.bytes
    }

    pub(crate) fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// What becomes of it when it is given.
    pub fn donation(&self) -> Donation {
        self.donation
    }

    pub(crate) fn form(&self) -> &Arc<DeviceShape> {
        &self.form
    }
}

impl Output {
    /// The name that the program's text gives it (`jax.result_info`), such as
    /// `result[0]['w']`. `None` where it gives none, and for programs that were compiled from
    /// another form than StableHLO text, or loaded compiled.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The input whose values it has, where the program returns one as it is: told by the
    /// compiled program.
    pub fn returned_input(&self) -> Option<usize> {
        self.returned
    }

    /// The bytes that it takes in a device's memory, as [`Input::device_bytes`].
    pub fn device_bytes(&self) -> usize {
        self.footprint.bytes
    }

    pub(crate) fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// The element type and dimensions on one device.
    pub fn shape(&self) -> &Shape {
        &self.form.shape
    }

    /// How it is spread over the partitions of a replica. `None` where the program has several
    /// and states no sharding for it, or one of a form that isn't known here; with a single
    /// partition it is whole.
    pub fn sharding(&self) -> Option<&Sharding> {
        self.sharding.as_ref()
    }

    /// The element type and dimensions over all partitions of a replica. `None` where
    /// the sharding isn't known. Where the compiler padded an axis so that it can be cut into
    /// equal parts, the padding is counted, unless the program was compiled from text.
    pub fn global_shape(&self) -> Option<Shape> {
        let whole = self.sharding.as_ref()?.global_shape(self.shape()).ok()?;
        Some(self.stated.clone().unwrap_or(whole))
    }

    /// The order of its dimensions in the device's memory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn form(&self) -> &Arc<DeviceShape> {
        &self.form
    }

    /// The input whose memory it has, all of it, when that is given.
    pub(crate) fn donor(&self) -> Option<usize> {
        self.donor
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("shape", self.shape())
            .field("layout", &self.layout)
            .field("donation", &self.donation)
            .field("sharding", &self.sharding)
            .finish()
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("shape", self.shape())
            .field("layout", &self.layout)
            .field("sharding", &self.sharding)
            .finish()
    }
}

impl Signature {
    /// The same, said to have collectives or not: a summary has no instructions to tell from.
    pub(crate) fn with_collectives(mut self, has_collectives: bool) -> Signature {
        self.has_collectives = has_collectives;
        self
    }

    /// The module's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The inputs, in the order in which arguments are passed.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The outputs, in the order in which a run gives them.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// How many replicas run.
    pub fn replicas(&self) -> usize {
        self.replicas
    }

    /// How many partitions each replica has.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// Whether its devices speak to each other: all of them must run it then, and in
    /// the same order.
    pub fn has_collectives(&self) -> bool {
        self.has_collectives
    }

    /// Whether it is that of a compiled program; otherwise it is what the program says of
    /// itself ([`Program::signature`]).
    pub fn is_compiled(&self) -> bool {
        self.is_compiled
    }

    /// The bytes that a run takes over from its inputs on each device, when all inputs
    /// that the program donates are given: those of their shapes, without what a device packs
    /// or pads ([`Input::device_bytes`]).
    pub fn donated_bytes(&self) -> usize {
        self.inputs
            .iter()
            .filter(|input| matches!(input.donation, Donation::Into { .. }))
            .map(|input| input.shape().byte_size())
            .sum()
    }

    /// Whether any input is donated, those without bytes included.
    pub(crate) fn donates(&self) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.any(|input| matches!(input.donation, Donation::Into { .. }))
    }

    /// Why an input that is offered for donation has no output; `None` for other inputs.
    pub fn why_unused(&self, input: usize) -> Option<String> {
        let input = self.inputs.get(input)?;
        if input.donation != Donation::Unused {
            return None;
        }
        let size = input.device_bytes();
        let fitting = self
            .outputs
            .iter()
            .filter(|output| output.footprint == input.footprint);
        Some(match fitting.count() {
            0 => format!("no output has {}", plural(size, "byte")),
            1 => format!(
                "the only output of {} has another donor",
                plural(size, "byte")
            ),
            count => {
                format!(
                    "all {count} outputs of {} have other donors",
                    plural(size, "byte")
                )
            }
        })
    }

    /// Takes the outputs' names from the text that the program was compiled from: compilers
    /// don't keep them.
    pub(crate) fn name_outputs(&mut self, program: &Program) {
        if program.format() != ProgramFormat::StableHloText {
            return;
        }
        // What is no text for this reader was one for the compiler: then there are no names.
        let Ok(main) = xla_mlir::parse(program.as_bytes()) else {
            return;
        };
        if main.inputs.len() == self.inputs.len() {
            for (input, stated) in self.inputs.iter_mut().zip(&main.inputs) {
                input.stated = stated_shape(input.shape(), &stated.tensor);
            }
        }
        if main.outputs.len() == self.outputs.len() {
            for (output, named) in self.outputs.iter_mut().zip(main.outputs) {
                output.stated = stated_shape(output.shape(), &named.tensor);
                output.name = named.name;
            }
        }
    }

    /// Notes which outputs are inputs, as a kept program states it: by numbers from 1 on.
    pub(crate) fn note_returned(&mut self, numbers: &[u32]) {
        let inputs = self.inputs.len();
        for (output, number) in self.outputs.iter_mut().zip(numbers) {
            let input = usize::try_from(*number)
                .ok()
                .and_then(|it| it.checked_sub(1));
            output.returned = input.filter(|input| *input < inputs);
        }
    }

    /// Refuses donors without an output.
    pub(crate) fn check_donors(&self) -> Result<()> {
        let unused: Vec<String> = (0..self.inputs.len())
            .filter_map(|index| {
                let why = self.why_unused(index)?;
                let shape = self.inputs[index].shape();
                Some(format!("{}, {shape}: {why}", self.describe_input(index)))
            })
            .collect();
        if unused.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "`{}` offers inputs for donation that can't be used: {}",
                self.name,
                unused.join("; ")
            ),
        ))
    }

    /// How an input is called in messages.
    pub(crate) fn describe_input(&self, index: usize) -> String {
        match self.inputs.get(index).and_then(Input::name) {
            Some(name) => format!("argument {index} (`{name}`)"),
            None => format!("argument {index}"),
        }
    }
}

/// The shape that a text states of what is `local` on one device.
fn stated_shape(local: &Shape, tensor: &xla_mlir::Tensor) -> Option<Shape> {
    let dims = tensor.dims.as_ref()?.iter().map(|dim| match dim {
        xla_mlir::Dim::Static(size) => usize::try_from(*size).ok(),
        xla_mlir::Dim::Dynamic => None,
    });
    let dims: Vec<usize> = dims.collect::<Option<_>>()?;
    let same_rank = dims.len() == local.rank();
    same_rank.then(|| Shape::new(local.element_type(), &dims).ok())?
}

/// A count with its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
