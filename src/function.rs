//! Typed programs: trees in, trees out.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::argument::ArgumentList;
use crate::call_error::CallError;
use crate::donation_report::DonationReport;
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::function_error::{FunctionError, LostLeaf, Survivor};
use crate::parameter::Parameters;
use crate::roots::{given_leaves, Roots, Structures};
use crate::run::DeviceOutputs;
use crate::signature::Signature;
use crate::tree::{Known, Source, Structure, Tree};
use crate::typed_program::TypedProgram;

/// A program with types: `P` is a tuple of [`Give`](crate::Give) and
/// [`Ref`](crate::Ref), one for each argument, and `R` the tree of its results.
///
/// Calling it takes trees by value where `P` says `Give` and by reference where it says
/// `Ref`; the other way round is a type error.
///
/// ```
/// use xla::{Buffer, Client, CompileOptions, Function, Give, Program, Ref, Tree};
///
/// #[derive(Tree)]
/// struct State {
///     weights: Buffer,
///     steps: Buffer,
/// }
///
/// # fn main() -> xla::Result<()> {
/// let client = Client::cpu()?;
/// let device = client.device(0)?;
/// let program = Program::from_text(
///     r#"
///     func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32},
///                     %n: tensor<i32> {tf.aliasing_output = 1 : i32},
///                     %g: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
///       %w1 = stablehlo.subtract %w, %g : tensor<2xf32>
///       %one = stablehlo.constant dense<1> : tensor<i32>
///       %n1 = stablehlo.add %n, %one : tensor<i32>
///       return %w1, %n1 : tensor<2xf32>, tensor<i32>
///     }"#,
/// )?;
/// let step: Function<(Give<State>, Ref<Buffer>), State> =
///     client.compile(&program, &CompileOptions::new())?.typed()?;
///
/// let mut state = State {
///     weights: Buffer::from_host(&device, &[1f32, 2.], &[2])?,
///     steps: Buffer::scalar(&device, 0i32)?,
/// };
/// let gradient = Buffer::from_host(&device, &[0.5f32, 1.], &[2])?;
/// for _ in 0..2 {
///     state = step.call((state, &gradient))?;
/// }
/// assert_eq!(state.weights.to_host::<f32>()?, [0., 0.]);
/// assert_eq!(state.steps.to_scalar::<i32>()?, 2);
/// # Ok(())
/// # }
/// ```
pub struct Function<P, R> {
    executable: Arc<Executable>,
    roots: Roots,
    results: Option<Structure>,
    types: PhantomData<fn(P) -> R>,
}

impl Executable {
    /// Gives the program types, once leaf counts and donation are found to fit. Counts
    /// that are known at run time only (`Vec`, `Option`, maps) are compared at each call, as
    /// element types, dimensions and devices are.
    ///
    /// # Errors
    /// The program has another number of inputs or outputs than the types have leaves; a
    /// `Ref` stands where the program donates; the program runs on several devices
    /// ([`Executable::parallel`] types those).
    pub fn typed<P: Parameters, R: Tree>(self) -> Result<Function<P, R>> {
        let function = Function {
            executable: Arc::new(self),
            roots: Roots::default(),
            results: R::constant_structure(),
            types: PhantomData,
        };
        function.check()?;
        Ok(function)
    }
}

impl<P: Parameters, R: Tree> Function<P, R> {
    /// Names the arguments for messages, as in `state.weights`. Without it they are `#0`, `#1`
    /// and so on: `#0.weights`.
    #[must_use]
    pub fn with_names(mut self, names: &'static [&'static str]) -> Function<P, R> {
        self.roots = Roots(names);
        self
    }

    /// Tells how the results are built, where their types don't: `Vec`s, `Option`s and maps
    /// have a structure at run time only. Without it, a result of the type of an argument is
    /// built like that argument.
    ///
    /// # Errors
    /// The structure has another number of leaves than the program has outputs, or is not
    /// that of the results' type. Of parts whose structure is known at run time only, the
    /// latter is seen when results are built, after the run.
    pub fn results_like(mut self, structure: Structure) -> Result<Function<P, R>> {
        let structure = self
            .typed()
            .stated_results(structure, R::constant_structure())?;
        self.results = Some(structure);
        Ok(self)
    }

    /// What the program takes, gives and donates, leaf by leaf.
    pub fn signature(&self) -> &Signature {
        self.executable.signature()
    }

    /// The program without types.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// Runs the program.
    ///
    /// # Errors
    /// As [`Executable::run`], naming leaves by their path. A refused call gives the
    /// arguments back as they were ([`FunctionError::into_given`]).
    // In line down to the plugin's call, as `Executable::launch` says why.
    #[inline(always)]
    pub fn call<'a>(&self, arguments: P::Arguments<'a>) -> Result<R, FunctionError<P::Given>> {
        self.run(arguments, None)
    }

    /// As [`Function::call`], and tells what the run did with each given leaf.
    ///
    /// # Errors
    /// As [`Function::call`].
    pub fn call_reported<'a>(
        &self,
        arguments: P::Arguments<'a>,
    ) -> Result<(R, DonationReport), FunctionError<P::Given>> {
        let mut report = DonationReport::default();
        let paths = self.paths(&P::structures(&arguments));
        let results = self.run(arguments, Some(&mut report))?;
        for leaf in &mut report.leaves {
            if let Some(path) = paths.get(leaf.argument) {
                leaf.name.clone_from(path);
            }
        }
        Ok((results, report))
    }

    #[inline(always)]
    fn run<'a>(
        &self,
        arguments: P::Arguments<'a>,
        report: Option<&mut DonationReport>,
    ) -> Result<R, FunctionError<P::Given>> {
        if !self.all_fit(&arguments) {
            if let Err(error) = self.check_arguments(&arguments) {
                return Err(FunctionError::refused(error, P::into_given(arguments)));
            }
        }
        match &self.results {
            Some(results) if P::LEAVES.is_some() => self.launch(arguments, results, None, report),
            _ => self.run_noted(arguments, report),
        }
    }

    /// Runs with what is known at run time only: it must be noted before the arguments are gone.
    #[inline(never)]
    fn run_noted<'a>(
        &self,
        arguments: P::Arguments<'a>,
        report: Option<&mut DonationReport>,
    ) -> Result<R, FunctionError<P::Given>> {
        let structures = P::structures(&arguments);
        let expected;
        let results = match &self.results {
            Some(results) => results,
            None => match self.expected(&structures) {
                Ok(structure) => {
                    expected = structure;
                    &expected
                }
                Err(error) => return Err(FunctionError::refused(error, P::into_given(arguments))),
            },
        };
        self.launch(arguments, results, Some(&structures), report)
    }

    /// Runs with arguments that fit. Their structures are given where they aren't constant.
    #[inline(always)]
    fn launch<'a>(
        &self,
        arguments: P::Arguments<'a>,
        results: &Structure,
        structures: Option<&Structures>,
        report: Option<&mut DonationReport>,
    ) -> Result<R, FunctionError<P::Given>> {
        let executable = &*self.executable;
        let mut list = ArgumentList::new();
        list.make_room(executable.plan.inputs.len());
        P::pass(arguments, &mut list);
        let mut handed = executable.handed();
        let ends = [list.len()];
        let launched = match executable.launch(&mut list, &ends, &mut handed, report) {
            Ok(launched) => launched,
            Err(error) => return Err(self.failed(error, structures)),
        };
        let mut made = executable.made(&mut list, &mut handed, launched);
        let mut outputs = made.next_device();
        match Source::of(&mut outputs, results).finish::<R>() {
            Ok(results) => Ok(results),
            Err(error) => Err(self.unbuilt(error, outputs, structures)),
        }
    }

    #[cold]
    fn failed(&self, error: CallError, structures: Option<&Structures>) -> FunctionError<P::Given> {
        let paths = match structures {
            Some(structures) => self.paths(structures),
            None => self.paths(&P::constant_structures()),
        };
        FunctionError::failed(error, &paths)
    }

    /// The program ran, but its results are no trees: what was given is lost, and the outputs that
    /// are left come back. Only trees written by hand, or a structure given for another type, come
    /// to that.
    #[cold]
    fn unbuilt(
        &self,
        error: Error,
        outputs: DeviceOutputs<'_, '_, '_, '_>,
        structures: Option<&Structures>,
    ) -> FunctionError<P::Given> {
        let constant;
        let structures = match structures {
            Some(structures) => structures,
            None => {
                constant = P::constant_structures();
                &constant
            }
        };
        let paths = self.paths(structures).into_iter();
        let given = paths.zip(given_leaves(structures, P::GIVEN));
        let lost = given.filter(|(_, given)| *given);
        let lost = lost.map(|(path, _)| LostLeaf { path, device: 0 });
        let first = self.signature().outputs().len() - outputs.len();
        let left = outputs.enumerate().map(|(index, buffer)| Survivor {
            path: format!("output {}", first + index),
            device: 0,
            buffer,
        });
        let doing = format!("building the results of {}", self.typed());
        FunctionError::unbuilt(error.context(doing), left.collect(), lost.collect())
    }

    /// How the results of a call are built, from its arguments.
    fn expected(&self, arguments: &Structures) -> Result<Structure> {
        self.typed()
            .expected_results(R::expected(&Known::new(arguments)))
    }

    /// What can be compared once.
    fn check(&self) -> Result<()> {
        let devices = self.executable.devices.len();
        if devices != 1 {
            return Err(Error::invalid(format!(
                "{} runs on {devices} devices, and a `Function` on one; `Executable::parallel` makes a \
                 `ParallelFunction` (`load_parallel` of a program from a file)",
                self.typed()
            )));
        }
        self.typed().check_types(
            P::LEAVES,
            &P::constant_structures(),
            P::GIVEN,
            self.results.as_ref(),
        )
    }

    /// Compares what is about to be passed, by reference: a refusal leaves it whole.
    #[inline]
    fn all_fit(&self, arguments: &P::Arguments<'_>) -> bool {
        if P::LEAVES.is_none() {
            return false;
        }
        // It keeps nothing that would have to be dropped.
        let mut leaves = ManuallyDrop::new(ArgumentList::new());
        leaves.only_compare(&self.executable, 0);
        P::lend(arguments, &mut leaves);
        leaves.all_fit()
    }

    /// Says what doesn't fit, if anything.
    #[inline(never)]
    fn check_arguments(&self, arguments: &P::Arguments<'_>) -> Result<()> {
        let mut leaves = ArgumentList::new();
        P::lend(arguments, &mut leaves);
        let inputs = self.executable.signature.inputs().len();
        if leaves.len() != inputs {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments, but the given trees have {} leaves{}{}",
                self.typed(),
                leaves.len(),
                self.roots.leaf_table(&P::structures(arguments)),
                self.roots
                    .left_out(&self.executable.signature, &P::structures(arguments))
            )));
        }
        if P::LEAVES.is_none() {
            self.typed()
                .check_donation(&P::structures(arguments), P::GIVEN)?;
        }
        match self.executable.first_wrong_shape(0, &leaves) {
            None => Ok(()),
            Some((index, leaf)) => {
                let path = self.typed().leaf_name(&P::structures(arguments), index);
                let name = format!("`{path}` (argument {index})");
                Err(self.executable.misfit(0, index, leaf, &name))
            }
        }
    }

    fn typed(&self) -> TypedProgram<'_> {
        TypedProgram {
            signature: self.signature(),
            roots: self.roots,
            each_device: false,
        }
    }

    fn paths(&self, structures: &Structures) -> Vec<String> {
        self.roots.paths(structures)
    }
}

/// Both are the one program, loaded once.
impl<P, R> Clone for Function<P, R> {
    fn clone(&self) -> Self {
        Function {
            executable: Arc::clone(&self.executable),
            roots: self.roots,
            results: self.results.clone(),
            types: PhantomData,
        }
    }
}

impl<P, R> fmt::Debug for Function<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({:?})", self.executable)
    }
}
