//! Compiled programs, and the ways of calling them.

use xla::tree::{Key, Structure};
use xla::{
    Argument, Buffer, CallError, Client, CompileOptions, DeviceAssignment, Donation,
    DonationReport, Error, Executable, Function, Give, Result,
};

use crate::program::{Donor, Program};
use crate::step::How;

/// A compiled program.
pub struct Compiled {
    /// What it was.
    pub program: Program,
    callable: Callable,
}

enum Callable {
    /// On one device: all its arguments in one tree.
    Typed(Function<(Give<Vec<Buffer>>,), Vec<Buffer>>),
    Plain(Box<Executable>),
}

/// What a call gave.
pub(crate) struct Done {
    /// Device by device.
    pub(crate) outputs: Vec<Vec<Buffer>>,
    pub(crate) report: Option<DonationReport>,
}

/// A call that gave nothing.
pub(crate) struct Refusal {
    pub(crate) error: Error,
    /// Device, argument, and what came back.
    pub(crate) back: Vec<(usize, usize, Buffer)>,
    /// Device and argument of what didn't.
    pub(crate) lost: Vec<(usize, usize)>,
}

pub(crate) type Outcome = Result<Done, Refusal>;

impl Compiled {
    /// Compiles a program for its devices.
    ///
    /// # Errors
    /// The plugin's.
    pub fn new(client: &Client, program: &Program, text: String) -> Result<Compiled> {
        let count = program.devices.len();
        let devices = program.devices.iter().map(|index| client.device(*index));
        let ids = devices
            .map(|device| Ok(device?.id()))
            .collect::<Result<Vec<i32>>>()?;
        let assignment = DeviceAssignment::new(count, 1, &ids)?;
        let options = CompileOptions::new().device_assignment(assignment);
        let mut executable = client.compile(&xla::Program::from_text(text)?, &options)?;
        if program.reloaded {
            executable = client.deserialize(&executable.serialize()?)?;
        }
        let callable = if count == 1 {
            let leaves = 0..program.output_count();
            let leaves = leaves.map(|index| (Key::Index(index), Structure::leaf()));
            let results = Structure::node("Vec", leaves.collect());
            let function: Function<(Give<Vec<Buffer>>,), Vec<Buffer>> = executable.typed()?;
            Callable::Typed(function.with_names(&["all"]).results_like(results)?)
        } else {
            Callable::Plain(Box::new(executable))
        };
        Ok(Compiled {
            program: program.clone(),
            callable,
        })
    }

    /// The program without types.
    pub fn executable(&self) -> &Executable {
        match &self.callable {
            Callable::Typed(function) => function.executable(),
            Callable::Plain(executable) => executable,
        }
    }

    /// What the signature says that the program doesn't.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let (signature, program) = (self.executable().signature(), &self.program);
        let (inputs, outputs) = (signature.inputs(), signature.outputs());
        let same = inputs.len() == program.inputs.len()
            && outputs.len() == program.output_count()
            && signature.has_collectives() == program.is_collective();
        if !same {
            return Some(format!("the signature is {signature}"));
        }
        for (index, (stated, input)) in inputs.iter().zip(&program.inputs).enumerate() {
            let right = match (input.donor, stated.donation()) {
                (Donor::No, Donation::None) => true,
                (Donor::Into(wanted), Donation::Into { output, required }) => {
                    wanted == output && !required
                }
                (Donor::Any, Donation::Into { .. } | Donation::Unused) => true,
                _ => false,
            };
            let form = stated.shape();
            if !right || form.element_type() != input.form.element || form.dims() != input.form.dims
            {
                return Some(format!("input {index} is stated as {stated:?}"));
            }
        }
        None
    }

    /// Whether an input that's given is consumed, as the signature says.
    pub(crate) fn consumes(&self, input: usize) -> bool {
        let inputs = self.executable().signature().inputs();
        matches!(inputs[input].donation(), Donation::Into { .. })
    }

    /// Runs it. `arguments` are device by device.
    pub(crate) fn call(
        &self,
        how: How,
        mut arguments: Vec<Vec<Argument<'_>>>,
    ) -> Result<Done, Refusal> {
        if let (How::Typed, Callable::Typed(function)) = (how, &self.callable) {
            let all = arguments.remove(0).into_iter();
            let given = all.filter_map(|argument| match argument {
                Argument::Given(buffer) => Some(buffer),
                Argument::Lent(_) => None,
            });
            return call_typed(function, given.collect());
        }
        let executable = self.executable();
        if self.program.devices.len() > 1 || arguments.len() > 1 {
            let outputs = executable.run_per_device(arguments)?.into_iter();
            return Ok(Done {
                outputs: outputs.map(xla::Outputs::into_vec).collect(),
                report: None,
            });
        }
        let arguments = arguments.remove(0);
        if how == How::Reported {
            let (outputs, report) = executable.run_reported(arguments)?;
            return Ok(Done {
                outputs: vec![outputs.into_vec()],
                report: Some(report),
            });
        }
        Ok(Done {
            outputs: vec![executable.run(arguments)?.into_vec()],
            report: None,
        })
    }
}

fn call_typed(
    function: &Function<(Give<Vec<Buffer>>,), Vec<Buffer>>,
    given: Vec<Buffer>,
) -> Result<Done, Refusal> {
    let failed = match function.call((given,)) {
        Ok(outputs) => {
            return Ok(Done {
                outputs: vec![outputs],
                report: None,
            })
        }
        Err(failed) => failed,
    };
    let error = failed.error().clone();
    let lost = failed
        .lost()
        .iter()
        .map(|lost| (lost.device, index_of(&lost.path)));
    let lost = lost.collect();
    let back = if failed.is_refusal() {
        let given = failed
            .into_given()
            .map(|(given,)| given)
            .unwrap_or_default();
        let given = given.into_iter().enumerate();
        given.map(|(index, buffer)| (0, index, buffer)).collect()
    } else {
        let survivors = failed.into_survivors().into_iter();
        survivors
            .map(|left| (left.device, index_of(&left.path), left.buffer))
            .collect()
    };
    Err(Refusal { error, back, lost })
}

/// Of `all[3]` the 3.
fn index_of(path: &str) -> usize {
    let index = path.trim_start_matches("all[").trim_end_matches(']');
    index.parse().unwrap_or(usize::MAX)
}

impl From<CallError> for Refusal {
    fn from(failed: CallError) -> Refusal {
        let lost = failed.lost().iter();
        let lost = lost.map(|lost| (lost.device, lost.argument)).collect();
        let (error, given) = failed.into_parts();
        let given = given.into_iter();
        let back = given.map(|given| (given.device, given.argument, given.buffer));
        Refusal {
            error,
            back: back.collect(),
            lost,
        }
    }
}
