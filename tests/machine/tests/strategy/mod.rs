//! Random cases, how they get smaller when they fail, and how many are run.
// Each test file uses its own part of this.
#![allow(dead_code)]

mod list;

use list::list;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use state_machine::{
    Argument, Call, Case, Diary, Donor, Fault, Form, How, Input, Misfit, Mishap, Op, Operation,
    Origin, Output, Pick, Program, Step, Trouble, Verdict, Way, FORMS,
};

/// How much is run.
pub struct Plan {
    /// Steps in all, unless `XLA_PJRT_MACHINE_STEPS` is set to another number. They begin from one seed;
    /// `XLA_PJRT_MACHINE_SEED` is another one.
    pub steps: usize,
    /// Steps of one case.
    pub steps_a_case: usize,
    /// Whether programs have [`Trouble`]: on a real plugin. Else calls have [`Mishap`]s and there
    /// are [`Fault`]s.
    pub trouble: bool,
    /// What must have happened besides [`HAPPENS`] when that many steps are done.
    pub happens: &'static [&'static str],
}

/// What must have happened, as the diary counts it.
const HAPPENS: [&str; 18] = [
    "borrowed",
    "calls failed without loss",
    "calls on one device",
    "calls on several devices",
    "collective calls",
    "copies",
    "failed buffers refused",
    "given and back",
    "given pending",
    "lent",
    "outputs",
    "outputs of failed runs",
    "pairs of calls at once",
    "reads awaited after the buffer was gone",
    "reads dropped",
    "reports",
    "shared uploads",
    "wrong calls refused",
];

impl Plan {
    fn steps(&self) -> usize {
        number("XLA_PJRT_MACHINE_STEPS").map_or(self.steps, |steps| steps as usize)
    }
}

fn number(variable: &str) -> Option<u64> {
    let number = std::env::var(variable).ok()?;
    Some(number.parse().expect("a number"))
}

/// Runs cases until there are enough steps. A failure is told with the smallest case that was found. A
/// case has a number, which stays when it gets smaller.
pub fn run(plan: &Plan, test: impl Fn(&Case, usize) -> Verdict, diary: &Diary) {
    let seed = number("XLA_PJRT_MACHINE_SEED").unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_shrink_time: 300_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let cases = case(plan);
    for number in 0..plan.steps().div_ceil(plan.steps_a_case) {
        let tree = cases.new_tree(&mut runner).expect("no case is rejected");
        let outcome = runner.run_one(tree, |case| {
            diary.begin();
            test(&case, number).map_err(|wrong| {
                TestCaseError::fail(format!("{wrong}\nwhat was done:\n{}", diary.lines()))
            })
        });
        match outcome {
            Ok(_) => {}
            Err(TestError::Fail(why, case)) => {
                panic!("case {number} of seed {seed}: {why}\nthe case:{case:?}")
            }
            Err(other) => panic!("case {number} of seed {seed}: {other}"),
        }
    }
}

/// Checks that there was something of everything.
pub fn check_tally(plan: &Plan, diary: &Diary) {
    let tally = diary.tally();
    println!("{tally:#?}");
    if plan.steps() >= plan.steps {
        for what in HAPPENS.iter().chain(plan.happens) {
            assert!(tally.contains_key(what), "no {what} in {tally:#?}");
        }
    }
}

fn case(plan: &Plan) -> impl Strategy<Value = Case> {
    let programs = [
        program(one_device(), false).boxed(),
        program(several_devices(), false).boxed(),
        program(
            prop_oneof![3 => one_device(), 1 => several_devices()],
            plan.trouble,
        )
        .boxed(),
    ];
    let steps = list(step(!plan.trouble), plan.steps_a_case);
    // The same few for all, so that one program's outputs are another's inputs.
    let forms = prop::collection::vec(form(), 3);
    (forms, programs, steps).prop_map(|(forms, programs, steps)| Case {
        programs: programs.iter().map(|raw| raw.with_forms(&forms)).collect(),
        steps,
    })
}

// Programs.

/// A program, before it's known which forms there are.
#[derive(Clone, Debug)]
struct RawProgram {
    devices: Vec<usize>,
    inputs: Vec<RawInput>,
    outputs: Vec<RawOutput>,
    collective: bool,
    slow: bool,
    reloaded: bool,
    trouble: Trouble,
}

#[derive(Clone, Debug)]
struct RawInput {
    form: usize,
    donor: RawDonor,
    target: u8,
}

#[derive(Clone, Copy, Debug)]
enum RawDonor {
    No,
    /// For an output of its size, if there is one that has no donor yet.
    Into,
    Any,
}

#[derive(Clone, Debug)]
struct RawOutput {
    kind: u8,
    first: u8,
    second: u8,
    number: i8,
}

fn program(
    devices: impl Strategy<Value = Vec<usize>>,
    with_trouble: bool,
) -> impl Strategy<Value = RawProgram> {
    let form = prop_oneof![4 => Just(0usize), 2 => Just(1), 1 => Just(2)];
    let donor = prop_oneof![
        3 => Just(RawDonor::No),
        6 => Just(RawDonor::Into),
        1 => Just(RawDonor::Any),
    ];
    let input = (form, donor, any::<u8>());
    let input = input.prop_map(|(form, donor, target)| RawInput {
        form,
        donor,
        target,
    });
    let output = (0..12u8, any::<u8>(), any::<u8>(), -5..=5i8);
    let output = output.prop_map(|(kind, first, second, number)| RawOutput {
        kind,
        first,
        second,
        number,
    });
    let trouble = match with_trouble {
        true => prop_oneof![
            1 => Just(Trouble::No),
            2 => Just(Trouble::AtOnce),
            1 => Just(Trouble::Later),
        ]
        .boxed(),
        false => Just(Trouble::No).boxed(),
    };
    let one_in = |count: u32| prop::bool::weighted(1.0 / f64::from(count));
    let parts = (
        devices,
        prop::collection::vec(input, 1..=6),
        prop::collection::vec(output, 0..=4),
        one_in(2),
        one_in(3),
        one_in(5),
        trouble,
    );
    parts.prop_map(
        |(devices, inputs, outputs, collective, slow, reloaded, trouble)| RawProgram {
            devices,
            inputs,
            outputs,
            collective,
            slow,
            reloaded,
            trouble,
        },
    )
}

impl RawProgram {
    fn with_forms(&self, forms: &[Form]) -> Program {
        let collective = self.collective && self.devices.len() > 1;
        let forms: Vec<Form> = self.inputs.iter().map(|input| forms[input.form]).collect();
        let outputs = self.outputs.iter();
        let outputs: Vec<Output> = outputs
            .map(|output| output.with_forms(&forms, collective))
            .collect();
        let mut taken = vec![false; outputs.len()];
        let inputs = self.inputs.iter().zip(forms).map(|(input, form)| {
            let donor = match input.donor {
                RawDonor::No => Donor::No,
                RawDonor::Into => donor_into(form, &outputs, &mut taken, input.target),
                RawDonor::Any => Donor::Any,
            };
            Input { form, donor }
        });
        let mut program = Program {
            devices: self.devices.clone(),
            inputs: inputs.collect(),
            outputs,
            slow: self.slow,
            reloaded: self.reloaded,
            trouble: self.trouble,
        };
        if program.is_collective() {
            // A device that fails leaves the others waiting, and the process is ended.
            program.trouble = Trouble::No;
        }
        program
    }
}

impl RawOutput {
    fn with_forms(&self, inputs: &[Form], collective: bool) -> Output {
        let first = usize::from(self.first) % inputs.len();
        let form = inputs[first];
        let alike = (0..inputs.len()).filter(|index| inputs[*index] == form);
        let alike: Vec<usize> = alike.collect();
        let second = alike[usize::from(self.second) % alike.len()];
        let op = match self.kind {
            0..=1 => Op::Copy(first),
            2..=4 => Op::Add(first, second),
            5..=6 => Op::Subtract(first, second),
            7 => Op::Const(self.number),
            // The compiler leaves out a sum of nothing.
            _ if collective && form.count() > 0 => Op::AllReduce(first),
            _ => Op::Add(first, second),
        };
        Output { form, op }
    }
}

/// A donor for an output of the same size, or else for any.
fn donor_into(form: Form, outputs: &[Output], taken: &mut [bool], target: u8) -> Donor {
    let fitting = 0..outputs.len();
    let fitting: Vec<usize> = fitting
        .filter(|index| !taken[*index] && outputs[*index].form.size() == form.size())
        .collect();
    if fitting.is_empty() {
        return Donor::Any;
    }
    let output = fitting[usize::from(target) % fitting.len()];
    taken[output] = true;
    Donor::Into(output)
}

fn one_device() -> impl Strategy<Value = Vec<usize>> {
    (0..4usize).prop_map(|device| vec![device])
}

/// Two or all four, in any order.
fn several_devices() -> impl Strategy<Value = Vec<usize>> {
    let all = || Just(vec![0, 1, 2, 3]).prop_shuffle();
    prop_oneof![all().prop_map(|all| all[..2].to_vec()), all()]
}

fn form() -> impl Strategy<Value = Form> {
    let weights = [6, 5, 3, 4, 3, 3, 2, 1, 1];
    let forms = FORMS.into_iter().zip(weights);
    prop::strategy::Union::new_weighted(forms.map(|(form, weight)| (weight, Just(form))).collect())
}

// Steps.

fn step(on_demand: bool) -> impl Strategy<Value = Step> {
    // Not after each: a read waits for the runs before it.
    let look = prop::option::weighted(0.5, pick());
    (operation(on_demand), look).prop_map(|(operation, look)| Step { operation, look })
}

fn pick() -> impl Strategy<Value = Pick> {
    (0..1000u16).prop_map(Pick)
}

fn operation(on_demand: bool) -> BoxedStrategy<Operation> {
    let upload = (
        pick(),
        pick(),
        -50..50i8,
        -3..=3i8,
        prop::bool::weighted(0.3),
    )
        .prop_map(|(form, device, start, by, shared)| Operation::Upload {
            form,
            device,
            start,
            by,
            shared,
        });
    let fault = (pick(), 1..6u8, any::<bool>()).prop_map(|(entry, after, handles)| {
        Operation::Arm(Fault {
            entry,
            after,
            handles,
        })
    });
    let call = || call(on_demand);
    let operation = prop_oneof![
        4 => upload,
        16 => call().prop_map(Operation::Call),
        2 => (call(), call()).prop_map(|(one, other)| Operation::Together(one, other)),
        3 => (call(), misfit()).prop_map(|(call, misfit)| Operation::Misfit(call, misfit)),
        1 => pick().prop_map(Operation::CopyHere),
        2 => (pick(), pick()).prop_map(|(buffer, device)| Operation::CopyTo(buffer, device)),
        1 => (pick(), way()).prop_map(|(buffer, way)| Operation::Read(buffer, way)),
        1 => pick().prop_map(Operation::Wait),
        3 => pick().prop_map(Operation::StartRead),
        2 => pick().prop_map(Operation::FinishRead),
        1 => pick().prop_map(Operation::DropRead),
        2 => (pick(), any::<bool>()).prop_map(|(buffer, there)| Operation::Drop(buffer, there)),
    ];
    match on_demand {
        true => prop_oneof![6 => operation, 1 => fault].boxed(),
        false => operation.boxed(),
    }
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::ToHost, Way::Into, Way::Bytes, Way::View])
}

fn misfit() -> impl Strategy<Value = Misfit> {
    prop_oneof![
        3 => pick().prop_map(Misfit::Form),
        2 => pick().prop_map(Misfit::Device),
        1 => Just(Misfit::TooFew),
        1 => Just(Misfit::TooMany),
        1 => Just(Misfit::NoDevice),
        1 => pick().prop_map(Misfit::GivenAndLent),
    ]
}

fn call(on_demand: bool) -> impl Strategy<Value = Call> {
    let from = prop_oneof![
        5 => pick().prop_map(Origin::Any),
        3 => Just(Origin::Latest),
        1 => Just(Origin::New),
    ];
    let argument = (prop::bool::weighted(0.4), from);
    let argument = argument.prop_map(|(give, from)| Argument { give, from });
    let how = prop_oneof![4 => Just(How::Run), 2 => Just(How::Reported), 2 => Just(How::Typed)];
    let mishap = prop_oneof![
        8 => Just(None),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(consumed, handles)| {
            Some(Mishap::Fails { consumed, handles })
        }),
        1 => Just(Some(Mishap::FailsLater)),
    ];
    let mishap = match on_demand {
        true => mishap.boxed(),
        false => Just(None).boxed(),
    };
    let arguments = prop::collection::vec(argument, 1..=6);
    let flags = (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.06),
        prop::bool::weighted(0.3),
    );
    (pick(), arguments, how, flags, mishap).prop_map(
        |(program, arguments, how, (elsewhere, borrow, failed, look), mishap)| Call {
            program,
            arguments,
            how,
            elsewhere,
            borrow,
            failed,
            look,
            mishap,
        },
    )
}
