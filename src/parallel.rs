//! Typed programs on many devices.

mod check;
mod parameter;
mod place;
mod results;

pub use parameter::{ParallelParameter, ParallelParameters, Part, Same, Split};
pub use results::{Each, One, Results};

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::argument::ArgumentList;
use crate::device::Device;
use crate::donation_report::DonationReport;
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::function_error::{FunctionError, LostLeaf, Survivor};
use crate::roots::{given_leaves, Roots, Structures};
use crate::run::Made;
use crate::signature::Signature;
use crate::tree::{Known, Source, Structure};
use crate::typed_program::TypedProgram;

/// A program with types that runs on many devices in one launch: `jax.pmap` with donation.
///
/// `P` is a tuple that says how each argument is passed: [`Give`](crate::Give) takes a
/// [`PerDevice`](crate::PerDevice) by value, [`Ref`](crate::Ref) by reference, [`Part`](crate::Part) a part of
/// larger trees by reference; [`Split`](crate::Split) and [`Same`](crate::Same) take host
/// arrays. `R` is [`Each`](crate::Each) (a result on every device) or [`One`](crate::One) (the
/// first device's), or a tuple of those. A program for one device is one for many, of which
/// there is one.
///
/// ```
/// use xla::{Buffer, ClientOptions, CompileOptions, Each, Give, HostArray, One, ParallelFunction};
/// use xla::{PerDevice, Plugin, Program, Split};
///
/// # fn main() -> xla::Result<()> {
/// let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(2))?;
/// // Adds the mean of all devices' numbers to the state of each.
/// let program = Program::from_text(
///     r#"
///     func.func @main(%state: tensor<f32> {tf.aliasing_output = 0 : i32},
///                     %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
///       %sum = "stablehlo.all_reduce"(%x) ({
///       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
///         %c = stablehlo.add %a, %b : tensor<f32>
///         stablehlo.return %c : tensor<f32>
///       }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
///       %half = stablehlo.constant dense<0.5> : tensor<f32>
///       %mean = stablehlo.multiply %sum, %half : tensor<f32>
///       %new = stablehlo.add %state, %mean : tensor<f32>
///       return %new, %mean : tensor<f32>, tensor<f32>
///     }"#,
/// )?;
/// let options = CompileOptions::new().replicas(2);
/// let step: ParallelFunction<(Give<Buffer>, Split<Buffer>), (Each<Buffer>, One<Buffer>)> =
///     client.compile(&program, &options)?.parallel()?;
///
/// let zero = HostArray::scalar(0f32)?.into();
/// let mut state: PerDevice<Buffer> = PerDevice::replicate(step.devices(), &zero)?;
/// let batch = HostArray::new(&[1f32, 3.], &[2])?.into(); // one for each device
/// for _ in 0..3 {
///     let mean;
///     (state, mean) = step.call((state, &batch))?;
///     assert_eq!(mean.to_scalar::<f32>()?, 2.);
/// }
/// state.assert_replicas_equal()?;
/// assert_eq!(state[1].to_scalar::<f32>()?, 6.);
/// # Ok(())
/// # }
/// ```
pub struct ParallelFunction<P, R> {
    executable: Arc<Executable>,
    roots: Roots,
    results: Option<Structure>,
    types: PhantomData<fn(P) -> R>,
}

impl Executable {
    /// Gives the program types, to be run on all its devices, once leaf counts and donation
    /// are found to fit. Counts that are known at run time only (`Vec`, `Option`, maps) are
    /// compared at each call, as element types, dimensions and devices are.
    ///
    /// # Errors
    /// The program has another number of inputs or outputs than the types have leaves; a
    /// `Ref` or `Part` stands where the program donates.
    pub fn parallel<P: ParallelParameters, R: Results>(self) -> Result<ParallelFunction<P, R>> {
        let function = ParallelFunction {
            executable: Arc::new(self),
            roots: Roots::default(),
            results: R::constant_structure(),
            types: PhantomData,
        };
        function.check()?;
        Ok(function)
    }
}

impl<P: ParallelParameters, R: Results> ParallelFunction<P, R> {
    /// Names the arguments for messages, as in `state.weights`. Without it they are `#0`, `#1`
    /// and so on: `#0.weights`.
    #[must_use]
    pub fn with_names(mut self, names: &'static [&'static str]) -> ParallelFunction<P, R> {
        self.roots = Roots(names);
        self
    }

    /// Tells how a device's results are built, where their types don't: as
    /// [`Function::results_like`](crate::Function::results_like). Of several results the
    /// structure is that of a tuple.
    ///
    /// # Errors
    /// As [`Function::results_like`](crate::Function::results_like).
    pub fn results_like(mut self, structure: Structure) -> Result<ParallelFunction<P, R>> {
        let structure = self
            .typed()
            .stated_results(structure, R::constant_structure())?;
        self.results = Some(structure);
        Ok(self)
    }

    /// What the program takes, gives and donates on each device, leaf by leaf.
    pub fn signature(&self) -> &Signature {
        self.executable.signature()
    }

    /// The program without types.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// The devices that it runs on, in the order of [`PerDevice`](crate::PerDevice).
    pub fn devices(&self) -> &[Device] {
        self.executable.devices()
    }

    /// Runs the program on all its devices: one launch. Returns when the runs are enqueued;
    /// a run that fails later says so when a result is read.
    ///
    /// Launches on several devices take turns, so that threads can't interleave them. On CPU
    /// one whose devices speak to each other waits for its arguments and for the launch
    /// before it.
    ///
    /// # Errors
    /// As [`Executable::run_per_device`], naming leaves by their path and their device; an
    /// argument is for another number of devices; host arrays don't fit. A refused call gives
    /// the arguments back as they were ([`FunctionError::into_given`]): no device has run. One
    /// that failed inside the plugin gives back what is left of them, and says so
    /// ([`FunctionError::may_be_out_of_step`]).
    pub fn call<'a>(
        &self,
        arguments: P::Arguments<'a>,
    ) -> Result<R::Values, FunctionError<P::Given>> {
        self.run(P::ready(arguments, &self.executable), None)
    }

    /// As [`ParallelFunction::call`], and tells what the runs did with each given leaf on each
    /// device.
    ///
    /// # Errors
    /// As [`ParallelFunction::call`].
    pub fn call_reported<'a>(
        &self,
        arguments: P::Arguments<'a>,
    ) -> Result<(R::Values, DonationReport), FunctionError<P::Given>> {
        let ready = P::ready(arguments, &self.executable);
        let mut report = DonationReport::default();
        let paths = self.roots.paths(&P::structures(&ready, 0));
        let results = self.run(ready, Some(&mut report))?;
        for leaf in &mut report.leaves {
            if let Some(path) = paths.get(leaf.argument) {
                leaf.name.clone_from(path);
            }
        }
        Ok((results, report))
    }

    fn run<'a>(
        &self,
        mut ready: P::Ready<'a>,
        report: Option<&mut DonationReport>,
    ) -> Result<R::Values, FunctionError<P::Given>> {
        // What is known at run time only must be noted before the arguments are gone.
        let structures = match (P::LEAVES, &self.results) {
            (Some(_), Some(_)) => None,
            _ => Some(P::structures(&ready, 0)),
        };
        let expected;
        let checked = self.check_arguments(&ready);
        let results = match (checked, &self.results) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(results)) => Ok(results),
            (Ok(()), None) => match self.expected(structures.as_deref().unwrap_or_default()) {
                Ok(structure) => {
                    expected = structure;
                    Ok(&expected)
                }
                Err(error) => Err(error),
            },
        };
        let results = match results {
            Ok(results) => results,
            Err(error) => return Err(FunctionError::refused(error, P::into_given(ready))),
        };

        let mut list = ArgumentList::new();
        self.make_room(&mut list);
        let mut ends: SmallVec<[usize; 8]> = SmallVec::new();
        P::begin(&mut ready);
        for position in 0..self.executable.devices.len() {
            P::pass(&mut ready, position, &mut list);
            ends.push(list.len());
        }
        drop(ready);
        let mut handed = self.executable.handed();
        let launch = self
            .executable
            .launch(&mut list, &ends, &mut handed, report);
        let outcome = launch.map(|launched| {
            let made = self.executable.made(&mut list, &mut handed, launched);
            self.build(made, results)
        });
        let outcome = match outcome {
            Ok(built) => built,
            Err(error) => {
                let paths = self
                    .roots
                    .paths(&structures.unwrap_or_else(P::constant_structures));
                return Err(FunctionError::failed(error, &paths));
            }
        };
        outcome.map_err(|(error, left)| {
            let structures = structures.unwrap_or_else(P::constant_structures);
            FunctionError::unbuilt(error, left, self.given_leaves(&structures))
        })
    }

    /// Makes room for the arguments of all devices.
    fn make_room(&self, list: &mut ArgumentList<'_>) {
        list.make_room(self.executable.devices.len() * self.signature().inputs().len());
    }

    /// Builds the results of all devices; else says why not, and gives the outputs that are
    /// left. Only trees written by hand, or a structure given for another type, come to that.
    fn build(
        &self,
        mut made: Made<'_, '_, '_>,
        structure: &Structure,
    ) -> Result<R::Values, (Error, Vec<Survivor>)> {
        let devices = self.executable.devices.len();
        let mut building = R::begin(devices);
        let mut failure = None;
        let mut left = Vec::new();
        for position in 0..devices {
            let mut outputs = made.next_device();
            if failure.is_none() {
                let mut source = Source::of(&mut outputs, structure);
                let built = R::build(&mut building, &mut source).and_then(|()| source.exhaust());
                failure = built.err().map(|error| {
                    let doing = format!(
                        "building the results of {} on device {position}",
                        self.typed()
                    );
                    error.context(doing)
                });
            }
            if failure.is_some() {
                let first = self.signature().outputs().len() - outputs.len();
                left.extend(outputs.enumerate().map(|(index, buffer)| Survivor {
                    path: format!("output {}", first + index),
                    device: position,
                    buffer,
                }));
            }
        }
        match failure {
            None => Ok(R::finish(building)),
            Some(error) => Err((error, left)),
        }
    }

    /// All leaves that were given, on all devices.
    fn given_leaves(&self, structures: &Structures) -> Vec<LostLeaf> {
        let paths = self.roots.paths(structures);
        let given = paths.iter().zip(given_leaves(structures, P::GIVEN));
        let given: Vec<_> = given.filter(|(_, given)| *given).collect();
        let devices = 0..self.executable.devices.len();
        let all = devices.flat_map(|device| given.iter().map(move |(path, _)| (device, path)));
        all.map(|(device, path)| LostLeaf {
            path: (*path).clone(),
            device,
        })
        .collect()
    }

    /// How the results of a call are built on each device, from its arguments.
    fn expected(&self, arguments: &Structures) -> Result<Structure> {
        self.typed()
            .expected_results(R::expected(&Known::new(arguments)))
    }

    fn typed(&self) -> TypedProgram<'_> {
        TypedProgram {
            signature: self.signature(),
            roots: self.roots,
            each_device: true,
        }
    }
}

/// Both are the one program, loaded once.
impl<P, R> Clone for ParallelFunction<P, R> {
    fn clone(&self) -> Self {
        ParallelFunction {
            executable: Arc::clone(&self.executable),
            roots: self.roots,
            results: self.results.clone(),
            types: PhantomData,
        }
    }
}

impl<P, R> fmt::Debug for ParallelFunction<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParallelFunction({:?})", self.executable)
    }
}
