//! Typed programs on many devices.

use std::any::{type_name, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::argument::ArgumentList;
use crate::donation_report::DonationReport;
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::function_error::{FunctionError, LostLeaf, Survivor};
use crate::host_tree::HostTree;
use crate::launch::Launch;
use crate::parallel_parameter::ParallelParameters;
use crate::per_device::PerDevice;
use crate::pjrt::execute::Launched;
use crate::place::Replicas;
use crate::results::Results;
use crate::roots::{given_leaves, lent_donor, Roots, Structures};
use crate::signature::{plural, Signature};
use crate::tree::{Known, Source, Structure, Tree};

/// A program with types that runs on many devices in one launch: `jax.pmap` with donation.
///
/// `P` is a tuple that says how each argument is passed: [`Give`](crate::Give) takes a
/// [`PerDevice`] by value, [`Ref`](crate::Ref) by reference, [`Part`](crate::Part) a part of
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
/// let mut state: PerDevice<Buffer> = PerDevice::replicate(step.executable().devices(), &zero)?;
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
    executable: Executable,
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
            executable: self,
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
        if let Some(constant) = R::constant_structure().filter(|constant| *constant != structure) {
            return Err(Error::invalid(format!(
                "the results of {} are {constant:?}, which {structure:?} is not",
                self.program()
            )));
        }
        self.check_results(&structure)?;
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
        let mut launched = Launched::default();
        let launch = self
            .executable
            .launch(&mut list, &ends, &mut launched, report);
        list.put_away();
        let outcome = match launch {
            Ok(record) => self.build(&mut launched, &record, results),
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
        launched: &mut Launched,
        record: &Option<Arc<Launch>>,
        structure: &Structure,
    ) -> Result<R::Values, (Error, Vec<Survivor>)> {
        let devices = &self.executable.devices;
        let mut building = R::begin(devices.len());
        let mut raw = launched.outputs.drain(..);
        let mut failure = None;
        let mut left = Vec::new();
        for (position, device) in devices.iter().enumerate() {
            let mut outputs = self.executable.buffers(device, &mut raw, record);
            if failure.is_none() {
                let mut source = Source::new(&mut outputs, structure);
                let built = R::build(&mut building, &mut source).and_then(|()| source.exhaust());
                failure = built.err().map(|error| {
                    let doing = format!(
                        "building the results of {} on device {position}",
                        self.program()
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
        let structure = R::expected(&Known::new(arguments))
            .map_err(|error| error.context(format!("the results of {}", self.program())))?;
        self.check_results(&structure)?;
        Ok(structure)
    }

    fn check_results(&self, structure: &Structure) -> Result<()> {
        let (leaves, outputs) = (structure.leaf_count(), self.signature().outputs().len());
        if leaves == outputs {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} gives {} on each device, but the results have {}",
            self.program(),
            plural(outputs, "output"),
            match leaves {
                1 => "1 leaf".to_owned(),
                leaves => format!("{leaves} leaves"),
            }
        )))
    }

    /// What can be compared once.
    fn check(&self) -> Result<()> {
        let inputs = self.signature().inputs().len();
        if let Some(leaves) = P::LEAVES.filter(|leaves| *leaves != inputs) {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments on each device, but the types of the parameters have \
                 {leaves} leaves{}",
                self.program(),
                self.roots.leaf_table(&P::constant_structures())
            )));
        }
        if let Some(results) = &self.results {
            self.check_results(results)?;
        }
        if P::LEAVES.is_some() {
            self.check_donation(&P::constant_structures())?;
        }
        Ok(())
    }

    /// Refuses a `Ref` or `Part` where the program donates.
    fn check_donation(&self, structures: &Structures) -> Result<()> {
        match lent_donor(self.signature(), structures, P::GIVEN) {
            None => Ok(()),
            Some(index) => Err(Error::invalid(format!(
                "`{}` is taken by reference, but {} donates it; take it by value (`Give`)",
                self.roots.leaf_name(self.signature(), structures, index),
                self.program()
            ))),
        }
    }

    /// Compares what is about to be passed, by reference: a refusal leaves it whole.
    fn check_arguments(&self, ready: &P::Ready<'_>) -> Result<()> {
        let devices = self.executable.devices.len();
        if let Some((parameter, count)) = P::not_for(devices, ready) {
            return Err(self.not_for(parameter, count));
        }
        for position in 0..devices {
            if !self.fits(ready, position) {
                self.check_device(ready, position)?;
            }
        }
        if !self.signature().has_collectives() {
            return Ok(());
        }
        let mut list = ArgumentList::new();
        self.make_room(&mut list);
        (0..devices).for_each(|position| P::lend(ready, position, &mut list));
        let awaited = self.executable.await_arguments(&list);
        list.put_away();
        awaited.map_err(|(place, error)| {
            let inputs = self.signature().inputs().len();
            let (position, index) = (place / inputs, place % inputs);
            let structures = P::structures(ready, position);
            let path = self.roots.leaf_name(self.signature(), &structures, index);
            error.context(format!(
                "`{path}` (argument {index}) of {} on device {position}",
                self.program()
            ))
        })
    }

    /// Whether a device's arguments are what the program takes; trees whose structure is
    /// known at run time only are looked at closely.
    fn fits(&self, ready: &P::Ready<'_>, position: usize) -> bool {
        P::LEAVES.is_some() && {
            let mut leaves = ArgumentList::comparing(&self.executable, position);
            P::lend(ready, position, &mut leaves);
            leaves.all_fit()
        }
    }

    /// Says what of a device's arguments doesn't fit.
    fn check_device(&self, ready: &P::Ready<'_>, position: usize) -> Result<()> {
        let mut leaves = ArgumentList::new();
        P::lend(ready, position, &mut leaves);
        let leaves = &leaves.arguments[..];
        let inputs = self.signature().inputs().len();
        let structures = P::structures(ready, position);
        if leaves.len() != inputs {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments on each device, but the given trees have {} leaves on \
                 device {position}{}",
                self.program(),
                leaves.len(),
                self.roots.leaf_table(&structures)
            )));
        }
        if P::LEAVES.is_none() {
            self.check_donation(&structures)?;
            self.check_alike(ready, position, &structures)?;
        }
        match self.executable.first_wrong_shape(position, leaves) {
            None => Ok(()),
            Some(index) => {
                let path = self.roots.leaf_name(self.signature(), &structures, index);
                let name = format!("`{path}` (argument {index})");
                Err(self
                    .executable
                    .misfit(position, index, &leaves[index], &name))
            }
        }
    }

    /// Refuses trees that are built otherwise than on the first device: their leaves would
    /// stand for other things.
    fn check_alike(
        &self,
        ready: &P::Ready<'_>,
        position: usize,
        structures: &Structures,
    ) -> Result<()> {
        let first = P::structures(ready, 0);
        let pairs = structures.iter().zip(&first).enumerate();
        for (parameter, ((_, own), (_, first))) in pairs {
            if own != first {
                return Err(Error::invalid(format!(
                    "`{}` of {} is {own:?} on device {position}, but {first:?} on device 0; build it \
                     alike on all devices",
                    self.roots.name(parameter),
                    self.program()
                )));
            }
        }
        Ok(())
    }

    #[cold]
    fn not_for(&self, parameter: usize, devices: Result<usize>) -> Error {
        let name = self.roots.name(parameter);
        match devices {
            Err(error) => error.context(format!("`{name}` of {}", self.program())),
            Ok(devices) => Error::invalid(format!(
                "`{name}` of {}: wanted values on {}, got values on {devices}; make them for \
                 `Executable::devices`",
                self.program(),
                plural(self.executable.devices.len(), "device"),
            )),
        }
    }

    fn program(&self) -> String {
        format!("`{}`", self.signature().name())
    }

    /// Uploads host arrays for a parameter, the same for all replicas, as
    /// [`Same`](crate::Same) does at a call: to have them on the devices before, or to keep them.
    ///
    /// # Errors
    /// There is no such parameter, or it is of another type; the leaf counts of those before it
    /// are known at run time only; as [`Executable::place_same`].
    pub fn place_same<T: Tree>(
        &self,
        parameter: usize,
        host: &HostTree<'_, T>,
    ) -> Result<PerDevice<T>> {
        self.place(parameter, host, Replicas::Same)
    }

    /// Uploads host arrays for a parameter, split over the replicas, as
    /// [`Split`](crate::Split) does at a call: the next batch while a step runs, say.
    ///
    /// # Errors
    /// As [`ParallelFunction::place_same`] and [`Executable::place_split`].
    pub fn place_split<T: Tree>(
        &self,
        parameter: usize,
        host: &HostTree<'_, T>,
    ) -> Result<PerDevice<T>> {
        self.place(parameter, host, Replicas::Split)
    }

    fn place<T: Tree>(
        &self,
        parameter: usize,
        host: &HostTree<'_, T>,
        replicas: Replicas,
    ) -> Result<PerDevice<T>> {
        let first_input = self.first_input::<T>(parameter)?;
        self.executable
            .place(first_input, host, replicas)
            .map_err(|error| self.not_for(parameter, Err(error)))
    }

    fn first_input<T: Tree>(&self, parameter: usize) -> Result<usize> {
        let structures = P::constant_structures();
        let Some((of, _)) = structures.get(parameter) else {
            return Err(Error::invalid(format!(
                "{} has {}, so none of the number {parameter}",
                self.program(),
                plural(structures.len(), "parameter")
            )));
        };
        if *of != TypeId::of::<T>() {
            return Err(Error::invalid(format!(
                "`{}` of {} is not a `{}`",
                self.roots.name(parameter),
                self.program(),
                type_name::<T>()
            )));
        }
        P::first_input(parameter).ok_or_else(|| {
            Error::invalid(format!(
                "how many leaves come before `{}` of {} is known at run time only; say it with \
                 `Executable::place_same` or `place_split`",
                self.roots.name(parameter),
                self.program()
            ))
        })
    }

    /// Joins a result of all partitions on the host, by the program's own sharding: as
    /// [`Executable::gather`], for the `result`-th of `R`.
    ///
    /// # Errors
    /// There is no such result, or it is of another type; as [`Executable::gather`].
    pub fn gather<T: Tree>(
        &self,
        result: usize,
        values: &PerDevice<T>,
    ) -> Result<HostTree<'static, T>> {
        let unknown = || {
            Error::invalid(format!(
                "how many leaves the results of {} have is known at run time only; say it with \
                 `results_like`, or the output with `Executable::gather`",
                self.program()
            ))
        };
        let structure = self.results.as_ref().ok_or_else(unknown)?;
        match R::place_of(result, structure) {
            Some((of, first_output)) if of == TypeId::of::<T>() => {
                self.executable.gather(first_output, values)
            }
            _ => Err(Error::invalid(format!(
                "result {result} of {} is not a `{}`",
                self.program(),
                type_name::<T>()
            ))),
        }
    }
}

impl<P, R> fmt::Debug for ParallelFunction<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParallelFunction({:?})", self.executable)
    }
}
