//! Typed programs: what is refused and in which words, what comes back, what a run did
//! with what it was given, and that a training loop written this way gives the numbers
//! that it should.

mod cpu;

use std::error::Error as _;
use std::panic::{catch_unwind, AssertUnwindSafe};

use cpu::{
    api_minor, check_resident, client, compiled, compiled_text, device, in_child, lesson, resident,
    values, vector, FAILS_LATER,
};
use xla::{
    Buffer, Client, Code, CompileOptions, Device, Donation, Executable, Function, FunctionError,
    Give, Program, Ref, Tree,
};

/// `m + g`, `w - rate * (m + g)`, `n + 1` and the sum of the new `w`; the first three in
/// place.
const STEP: &str = r#"
module @step {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                  %m: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                  %n: tensor<i32> {tf.aliasing_output = 2 : i32},
                  %g: tensor<4xf32>, %rate: tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>) {
    %m1 = stablehlo.add %m, %g : tensor<4xf32>
    %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %change = stablehlo.multiply %rates, %m1 : tensor<4xf32>
    %w1 = stablehlo.subtract %w, %change : tensor<4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n1 = stablehlo.add %n, %one : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%w1 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %w1, %m1, %n1, %sum : tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>
  }
}"#;

#[derive(Tree)]
struct State {
    weights: Buffer,
    opt: Opt,
}

#[derive(Tree)]
struct Opt {
    momentum: Buffer,
    steps: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
    rate: Buffer,
}

type Step = Function<(Give<State>, Ref<Batch>), (State, Buffer)>;

const WEIGHTS: [f32; 4] = [1., 2., 3., 4.];
const GRADIENT: [f32; 4] = [1., -2., 4., 0.];

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

fn step(client: &Client) -> Step {
    let step = compiled_text(client, STEP).typed().expect("the types fit");
    step.with_names(&["state", "batch"])
}

fn state(device: &Device) -> State {
    State {
        weights: vector(device, &WEIGHTS),
        opt: Opt {
            momentum: vector(device, &[0.; 4]),
            steps: Buffer::scalar(device, 0i32).expect("a number"),
        },
    }
}

fn batch(device: &Device) -> Batch {
    Batch {
        gradient: vector(device, &GRADIENT),
        rate: Buffer::scalar(device, 0.5f32).expect("a number"),
    }
}

#[track_caller]
fn check_state(state: &State, steps: i32) {
    let count = steps as f32;
    let momentum = GRADIENT.map(|g| g * count);
    let weights = [0, 1, 2, 3].map(|i| WEIGHTS[i] - 0.5 * GRADIENT[i] * count * (count + 1.) / 2.);
    assert_eq!(values(&state.weights), weights);
    assert_eq!(values(&state.opt.momentum), momentum);
    assert_eq!(state.opt.steps.to_scalar::<i32>().expect("a number"), steps);
}

#[track_caller]
fn check_batch(batch: &Batch) {
    assert_eq!(values(&batch.gradient), GRADIENT);
    assert_eq!(batch.rate.to_scalar::<f32>().expect("a number"), 0.5);
}

// What a type and a program don't have in common.

#[test]
fn types_with_another_number_of_leaves_are_refused() {
    let (client, _device) = one_device();
    let compiled = || compiled_text(&client, STEP);
    let error = compiled().typed::<(Give<State>, Ref<Buffer>), (State, Buffer)>();
    let error = error.expect_err("4 of 5");
    assert_eq!(error.code(), Code::InvalidArgument);
    for words in ["`step` takes 5 arguments", "4 leaves", "(#0: 3, #1: 1)"] {
        assert!(error.message().contains(words), "no `{words}` in: {error}");
    }
    let error = compiled()
        .typed::<(), (State, Buffer)>()
        .expect_err("0 of 5");
    assert!(error.message().contains("0 leaves"), "{error}");
    let error = compiled().typed::<(Give<State>, Ref<Batch>), State>();
    let error = error.expect_err("3 of 4");
    for words in ["`step` gives 4 outputs", "3 leaves"] {
        assert!(error.message().contains(words), "no `{words}` in: {error}");
    }
    let error = compiled().typed::<(Give<State>, Ref<Batch>), ()>();
    assert!(error.expect_err("0 of 4").message().contains("0 leaves"));
    // As many leaves in other trees fit as well.
    type Flat = (Give<Buffer>, Give<[Buffer; 2]>, Ref<(Buffer, Buffer)>);
    assert!(compiled().typed::<Flat, [Buffer; 4]>().is_ok());
}

#[test]
fn a_reference_where_the_program_donates_is_refused_by_path() {
    let (client, device) = one_device();
    let compiled = || compiled_text(&client, STEP);
    let error = compiled().typed::<(Ref<State>, Ref<Batch>), (State, Buffer)>();
    let error = error.expect_err("the state is donated");
    assert_eq!(error.code(), Code::InvalidArgument);
    for words in [
        "`#0.weights`",
        "by reference",
        "`step` donates it",
        "`Give`",
    ] {
        assert!(error.message().contains(words), "no `{words}` in: {error}");
    }
    let error = compiled().typed::<(Give<Buffer>, Ref<Opt>, Ref<Batch>), (State, Buffer)>();
    let error = error.expect_err("the momentum is donated");
    assert!(error.message().contains("`#1.momentum`"), "{error}");
    let error = compiled().typed::<(Give<(Buffer, Buffer)>, Ref<[Buffer; 3]>), (State, Buffer)>();
    let error = error.expect_err("the number of steps is donated");
    assert!(error.message().contains("`#1[0]`"), "{error}");
    // Giving what the program doesn't donate is fine.
    let lavish: Function<(Give<State>, Give<Batch>), (State, Buffer)> =
        compiled().typed().expect("the batch may go too");
    let (next, _sum) = lavish.call((state(&device), batch(&device))).expect("runs");
    check_state(&next, 1);
    // Where the count is known at run time only, so is the refusal.
    type Listed = (Ref<Vec<Buffer>>, Ref<Batch>);
    let listed: Function<Listed, (State, Buffer)> = compiled().typed().expect("nothing is known");
    let listed = listed.with_names(&["list", "batch"]);
    let state = state(&device);
    let list = vec![state.weights, state.opt.momentum, state.opt.steps];
    let error = listed
        .call((&list, &batch(&device)))
        .err()
        .expect("donated");
    assert!(error.is_refusal());
    assert!(error.to_string().contains("`list[0]`"), "{error}");
    assert_eq!(values(&list[0]), WEIGHTS);
}

#[test]
fn an_input_that_must_be_consumed_cannot_be_taken_by_reference() {
    let (client, device) = one_device();
    let program = || Program::from_file(cpu::program_path("must_alias.hlo.pb")).expect("a program");
    let compiled = || {
        client
            .compile(&program(), &CompileOptions::new())
            .expect("compiles")
    };
    assert!(compiled()
        .typed::<(Ref<Buffer>, Ref<Buffer>), Buffer>()
        .is_err());
    let step: Function<(Give<Buffer>, Ref<Buffer>), Buffer> = compiled().typed().expect("fits");
    let g = vector(&device, &[8.; 4]);
    let next = step.call((vector(&device, &WEIGHTS), &g)).expect("runs");
    assert_eq!(values(&next), [0., 1., 2., 3.]);
}

#[test]
fn a_program_for_several_devices_is_refused() {
    let client = client(2);
    let program = cpu::program("all_reduce_replicas_2");
    let sum = client
        .compile(&program, &CompileOptions::new())
        .expect("compiles");
    let error = sum.typed::<(Ref<Buffer>,), (Buffer, Buffer)>();
    let error = error.expect_err("two devices");
    assert!(error.message().contains("2 devices"), "{error}");
}

#[test]
fn programs_without_arguments_or_results() {
    let (client, device) = one_device();
    let constant = compiled_text(
        &client,
        "func.func @main() -> tensor<f32> {
           %x = stablehlo.constant dense<2.5> : tensor<f32>
           return %x : tensor<f32>
         }",
    );
    let constant: Function<(), Buffer> = constant.typed().expect("fits");
    let x = constant.call(()).expect("runs");
    assert_eq!(x.to_scalar::<f32>().expect("a number"), 2.5);
    let nothing = compiled_text(&client, "func.func @main(%x: tensor<f32>) { return }");
    let nothing: Function<(Ref<Buffer>,), ()> = nothing.typed().expect("fits");
    nothing.call((&x,)).expect("runs");
    let wrong = vector(&device, &[1.]);
    let error = nothing.call((&wrong,)).expect_err("f32[1] is no number");
    assert!(error.is_refusal(), "{error}");
}

// What an argument and a program don't have in common.

/// A change to a state or a batch, and the words of the refusal.
struct Misfit<'a> {
    spoil: &'a dyn Fn(&mut State, &mut Batch),
    words: &'a [&'a str],
}

#[track_caller]
fn check_misfits(client: &Client, here: &Device, misfits: &[Misfit<'_>]) {
    let named = step(client);
    let unnamed: Step = compiled_text(client, STEP).typed().expect("the types fit");
    for misfit in misfits {
        for (step, roots) in [(&named, ["state", "batch"]), (&unnamed, ["#0", "#1"])] {
            let (mut state, mut batch) = (state(here), batch(here));
            (misfit.spoil)(&mut state, &mut batch);
            let error = step.call((state, &batch)).err().expect("a misfit");
            let text = error.to_string();
            assert!(error.is_refusal(), "{text}");
            assert_eq!(error.code(), Code::InvalidArgument, "{text}");
            assert_eq!(
                error.error().function(),
                None,
                "the plugin was asked: {text}"
            );
            assert!(
                error.lost().is_empty() && error.survivors().is_empty(),
                "{text}"
            );
            for word in misfit.words {
                let word = word.replace("STATE", roots[0]).replace("BATCH", roots[1]);
                assert!(text.contains(&word), "no `{word}` in: {text}");
            }
            let (state, ()) = error.into_given().expect("it comes back");
            // Untouched: what was good in it can be read and given.
            assert!(state.weights.is_ready().expect("known"));
            if state.opt.steps.shape().to_string() == "s32[]" {
                assert_eq!(state.opt.steps.to_scalar::<i32>().expect("a number"), 0);
            }
        }
    }
}

#[test]
fn a_misfit_is_refused_by_path() {
    let client = client(2);
    let (here, there) = (device(&client, 0), device(&client, 1));
    let other = cpu::client(1);
    let elsewhere = device(&other, 0);
    let at = |device: &Device| format!("{device:?}");
    check_misfits(
        &client,
        &here,
        &[
            Misfit {
                spoil: &|state, _| {
                    state.weights = Buffer::from_host(&here, &[1i32; 4], &[4]).expect("room");
                },
                words: &[
                    "`STATE.weights` (argument 0)",
                    "wanted f32[4]",
                    "got s32[4]",
                ],
            },
            Misfit {
                spoil: &|state, _| {
                    state.opt.momentum =
                        Buffer::from_host(&here, &[1f32; 4], &[2, 2]).expect("room");
                },
                words: &[
                    "`STATE.opt.momentum` (argument 1)",
                    "wanted f32[4]",
                    "got f32[2,2]",
                ],
            },
            Misfit {
                spoil: &|state, _| {
                    state.opt.steps = Buffer::from_host(&here, &[1i32], &[1]).expect("room");
                },
                words: &[
                    "`STATE.opt.steps` (argument 2)",
                    "wanted s32[]",
                    "got s32[1]",
                ],
            },
            Misfit {
                spoil: &|_, batch| batch.gradient = vector(&here, &[1.; 5]),
                words: &[
                    "`BATCH.gradient` (argument 3)",
                    "wanted f32[4]",
                    "got f32[5]",
                ],
            },
            Misfit {
                spoil: &|_, batch| {
                    batch.rate = Buffer::scalar(&here, 0.5f64).expect("a number");
                },
                words: &["`BATCH.rate` (argument 4)", "wanted f32[]", "got f64[]"],
            },
            Misfit {
                spoil: &|state, _| state.weights = vector(&there, &WEIGHTS),
                words: &["`STATE.weights`", &at(&here), &at(&there), "copy_to_device"],
            },
            Misfit {
                spoil: &|_, batch| batch.gradient = vector(&there, &GRADIENT),
                words: &[
                    "`BATCH.gradient`",
                    &at(&here),
                    &at(&there),
                    "copy_to_device",
                ],
            },
            Misfit {
                spoil: &|state, _| state.opt.momentum = vector(&elsewhere, &[0.; 4]),
                words: &["`STATE.opt.momentum`", "another client"],
            },
            // Of several the first.
            Misfit {
                spoil: &|state, batch| {
                    batch.gradient = vector(&here, &[1.]);
                    state.opt.momentum = vector(&here, &[1.]);
                },
                words: &["`STATE.opt.momentum`"],
            },
        ],
    );
}

#[test]
fn an_argument_without_a_name_is_called_by_its_number() {
    let (client, device) = one_device();
    let step: Step = compiled_text(&client, STEP).typed().expect("fits");
    let step = step.with_names(&["state"]);
    let mut batch = batch(&device);
    batch.rate = vector(&device, &[1.]);
    let error = step.call((state(&device), &batch)).err().expect("a misfit");
    assert!(error.to_string().contains("`#1.rate`"), "{error}");
    // More names than arguments do no harm.
    let step = step.with_names(&["a", "b", "c"]);
    let error = step.call((state(&device), &batch)).err().expect("a misfit");
    assert!(error.to_string().contains("`b.rate`"), "{error}");
}

#[test]
fn a_refused_call_gives_back_what_was_given_and_it_trains_on() {
    let (client, device) = one_device();
    let step = step(&client);
    let good = batch(&device);
    let mut bad = batch(&device);
    bad.gradient = vector(&device, &[1.; 3]);
    let mut state = state(&device);
    for round in 1..=50 {
        let error = step.call((state, &bad)).err().expect("a misfit");
        let (back, ()) = error.into_given().expect("refused");
        check_state(&back, round - 1);
        let (next, _sum) = step.call((back, &good)).expect("runs");
        state = next;
    }
    check_state(&state, 50);
    check_batch(&good);
}

#[test]
fn everything_that_was_given_comes_back_in_its_place() {
    let (client, device) = one_device();
    type Two = (Give<State>, Ref<Buffer>, Give<Buffer>);
    let step: Function<Two, (State, Buffer)> = compiled_text(&client, STEP).typed().expect("fits");
    let gradient = vector(&device, &[1.; 7]);
    let rate = Buffer::scalar(&device, 0.25f32).expect("a number");
    let error = step
        .call((state(&device), &gradient, rate))
        .err()
        .expect("a misfit");
    let (state, (), rate) = error.into_given().expect("refused");
    check_state(&state, 0);
    assert_eq!(rate.to_scalar::<f32>().expect("a number"), 0.25);
}

// The error.

#[test]
fn the_error_holds_nothing_that_was_lent() {
    fn is_free<E: std::error::Error + Send + Sync + 'static>(error: E) -> E {
        error
    }
    fn train(step: &Step, state: State, batch: &Batch) -> xla::Result<(State, Buffer)> {
        Ok(step.call((state, batch))?)
    }
    fn train_anyhow(step: &Step, state: State, batch: &Batch) -> anyhow::Result<(State, Buffer)> {
        Ok(step.call((state, batch))?)
    }
    let (client, device) = one_device();
    let step = step(&client);
    let mut bad = batch(&device);
    bad.rate = vector(&device, &[1.]);
    let error = is_free(step.call((state(&device), &bad)).err().expect("a misfit"));
    // The batch can be changed and given while the error is there.
    bad.rate = vector(&device, &[2.]);
    assert!(error.to_string().contains("`batch.rate`"), "{error}");
    let source = error.source().expect("the cause").to_string();
    assert!(error.to_string().starts_with(&source));
    assert!(format!("{error:?}").contains("`batch.rate`"));

    let plain = train(&step, state(&device), &bad).err().expect("a misfit");
    assert!(plain.message().contains("`batch.rate`"), "{plain}");
    assert_eq!(plain.code(), Code::InvalidArgument);

    let any = train_anyhow(&step, state(&device), &bad)
        .err()
        .expect("a misfit");
    drop(bad);
    let error: FunctionError<(State, ())> = any.downcast().expect("it is still what it was");
    // From wherever it was caught, the state is there.
    let sent = std::thread::spawn(move || error.into_given().expect("refused"));
    let (state, ()) = sent.join().expect("no panic");
    let (next, _sum) = train(&step, state, &batch(&device)).expect("runs");
    check_state(&next, 1);
}

#[test]
fn what_is_said_of_a_refusal() {
    let (client, device) = one_device();
    let step = step(&client);
    let mut bad = batch(&device);
    bad.rate = vector(&device, &[1.]);
    let error = step.call((state(&device), &bad)).err().expect("a misfit");
    assert!(
        error.to_string().contains("comes back with this error"),
        "{error}"
    );
    assert_eq!(error.survivors().len(), 0);
    assert_eq!(error.lost().len(), 0);
    assert!(error.into_survivors().is_empty());
}

// Failures inside the plugin.

#[derive(Tree)]
struct Two {
    w: Buffer,
    v: Buffer,
}

/// The second output needs 2^48 bytes, more than a process can address.
const FAILS_AT_ONCE: &str = r#"
module @fails_at_once {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                  %v: tensor<4xf32>, %x: tensor<f32>)
      -> (tensor<4xf32>, tensor<70368744177664xf32>) {
    %next = stablehlo.add %w, %v : tensor<4xf32>
    %huge = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
    return %next, %huge : tensor<4xf32>, tensor<70368744177664xf32>
  }
}"#;

#[test]
fn a_call_that_fails_in_the_plugin_gives_back_what_is_left_by_path() {
    let (client, device) = one_device();
    type Fails = Function<(Give<Two>, Ref<Buffer>), (Buffer, Buffer)>;
    let step: Fails = compiled_text(&client, FAILS_AT_ONCE).typed().expect("fits");
    let step = step.with_names(&["state", "x"]);
    let x = Buffer::scalar(&device, 1f32).expect("a number");
    for round in 0..50 {
        let state = Two {
            w: vector(&device, &WEIGHTS),
            v: vector(&device, &GRADIENT),
        };
        let result = match round % 2 {
            0 => step.call((state, &x)).err(),
            _ => step.call_reported((state, &x)).err(),
        };
        let error = result.expect("there is not so much memory");
        let text = error.to_string();
        assert_eq!(error.code(), Code::ResourceExhausted, "{text}");
        let function = Some("PJRT_LoadedExecutable_Execute");
        assert_eq!(error.error().function(), function, "{text}");
        assert!(!error.is_refusal(), "{text}");
        // The undonated `v` survives on all; the donated `w` only on 0.81.
        let survivors: Vec<(&str, Vec<f32>)> = error
            .survivors()
            .iter()
            .map(|left| (left.path.as_str(), values(&left.buffer)))
            .collect();
        if api_minor(&client) < 100 {
            assert!(error.lost().is_empty(), "{text}");
            let (w, v) = (WEIGHTS.to_vec(), GRADIENT.to_vec());
            assert_eq!(survivors, [("state.w", w), ("state.v", v)]);
        } else {
            let lost: Vec<(&str, usize)> = error
                .lost()
                .iter()
                .map(|lost| (lost.path.as_str(), lost.device))
                .collect();
            assert_eq!(lost, [("state.w", 0)]);
            assert!(text.contains("state.w"), "{text}");
            assert_eq!(survivors, [("state.v", GRADIENT.to_vec())]);
        }
        let mut survivors = error.into_survivors();
        let v = survivors.pop().expect("one at least");
        assert_eq!((v.device, values(&v.buffer)), (0, GRADIENT.to_vec()));
        // One device can't be out of step with another.
        assert!(!text.contains("some devices"), "{text}");
    }
    assert_eq!(x.to_scalar::<f32>().expect("a number"), 1.);
}

#[test]
fn a_failure_names_the_leaves_of_a_list_too() {
    let (client, device) = one_device();
    type Listed = (Give<Vec<Buffer>>, Ref<Buffer>);
    let step: Function<Listed, (Buffer, Buffer)> =
        compiled_text(&client, FAILS_AT_ONCE).typed().expect("fits");
    let x = Buffer::scalar(&device, 1f32).expect("a number");
    let state = vec![vector(&device, &WEIGHTS), vector(&device, &GRADIENT)];
    let error = step.call((state, &x)).expect_err("not so much memory");
    let survivors = error.survivors().iter().map(|left| left.path.clone());
    let lost = error.lost().iter().map(|lost| lost.path.clone());
    let mut paths: Vec<String> = survivors.chain(lost).collect();
    paths.sort();
    assert_eq!(paths, ["#0[0]", "#0[1]"], "{error}");
}

#[test]
fn a_run_that_fails_later_says_so_at_every_use_of_its_results() {
    let (client, device) = one_device();
    let fails: Function<(Give<Buffer>, Ref<Buffer>), Buffer> =
        compiled_text(&client, FAILS_LATER).typed().expect("fits");
    let step = step(&client);
    let x = Buffer::scalar(&device, 1f32).expect("a number");
    let cause = "Out of memory";
    let output = fails
        .call((vector(&device, &WEIGHTS), &x))
        .expect("the failure comes later");
    let says = |what: &str, error: Option<xla::Error>| {
        let error = error.unwrap_or_else(|| panic!("{what}: no error"));
        assert!(error.message().contains(cause), "{what}: {error}");
    };
    says("wait", output.wait().err());
    says("read", output.to_host::<f32>().err());
    says("view", output.view::<f32>().err());
    says("event", output.ready().expect("an event").wait().err());
    says(
        "async read",
        output
            .to_host_async::<f32>()
            .and_then(|read| read.wait())
            .err(),
    );
    // As an argument of the next call, given or lent, it spoils what comes of it: the sum
    // and the weights, through one step and through many.
    let mut next = State {
        weights: output,
        ..state(&device)
    };
    for round in 0..20 {
        let batch = batch(&device);
        let (after, sum) = step.call((next, &batch)).expect("shows later");
        says("the sum of a later step", sum.to_scalar::<f32>().err());
        says("the weights of a later step", after.weights.wait().err());
        check_batch(&batch);
        assert!(after.weights.view::<f32>().is_err(), "round {round}");
        next = after;
    }
    let lent: Function<(Ref<Buffer>,), Buffer> = compiled_text(
        &client,
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %y = stablehlo.add %x, %x : tensor<4xf32>
           return %y : tensor<4xf32>
         }",
    )
    .typed()
    .expect("fits");
    let doubled = lent.call((&next.weights,)).expect("shows later");
    says("a lent argument", doubled.to_host::<f32>().err());
    says("a view", doubled.view::<f32>().err());
}

// What became of what was given.

/// `a` is aliased, `b` is offered in vain, `c` is not donated, `d` is lent.
const FOUR_KINDS: &str = r#"
module @four_kinds {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                  %b: tensor<3xf32> {jax.buffer_donor = true},
                  %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %e = stablehlo.add %a, %sums : tensor<4xf32>
    %f = stablehlo.add %e, %c : tensor<4xf32>
    %g = stablehlo.add %f, %d : tensor<4xf32>
    return %g : tensor<4xf32>
  }
}"#;

#[derive(Tree)]
struct Kinds {
    aliased: Buffer,
    in_vain: Buffer,
    kept: Buffer,
}

#[test]
fn a_report_says_what_was_consumed_by_path() {
    let (client, device) = one_device();
    let run: Function<(Give<Kinds>, Ref<Buffer>), Buffer> =
        compiled_text(&client, FOUR_KINDS).typed().expect("fits");
    let run = run.with_names(&["kinds", "lent"]);
    let lent = vector(&device, &[1000.; 4]);
    for _ in 0..20 {
        let kinds = Kinds {
            aliased: vector(&device, &WEIGHTS),
            in_vain: vector(&device, &[1., 2., 3.]),
            kept: vector(&device, &[100.; 4]),
        };
        let (sum, report) = run.call_reported((kinds, &lent)).expect("runs");
        assert_eq!(values(&sum), [1107., 1108., 1109., 1110.]);
        let leaves: Vec<_> = report
            .leaves()
            .iter()
            .map(|leaf| (leaf.name.as_str(), leaf.argument, leaf.consumed))
            .collect();
        assert_eq!(
            leaves,
            [
                ("kinds.aliased", 0, true),
                ("kinds.in_vain", 1, false),
                ("kinds.kept", 2, false)
            ]
        );
        assert!(!report.all_consumed());
        let text = report.to_string();
        for words in [
            "1 of 3 given buffers",
            "not consumed: kinds.in_vain, kinds.kept",
        ] {
            assert!(text.contains(words), "no `{words}` in: {text}");
        }
        assert_eq!(values(&lent), [1000.; 4]);
    }
}

#[test]
fn a_report_of_a_whole_state() {
    let (client, device) = one_device();
    let step = step(&client);
    let batch = batch(&device);
    let mut state = state(&device);
    for round in 1..=20 {
        let ((next, _sum), report) = step.call_reported((state, &batch)).expect("runs");
        assert!(report.all_consumed(), "{report}");
        let names: Vec<&str> = report.leaves().iter().map(|leaf| &*leaf.name).collect();
        let wanted = ["state.weights", "state.opt.momentum", "state.opt.steps"];
        assert_eq!(names, wanted);
        check_state(&next, round);
        state = next;
    }
    // Nothing given, nothing to report; and the untyped call has numbers for names.
    let doubled = compiled_text(
        &client,
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }",
    );
    let same: Function<(Ref<Buffer>,), Buffer> = doubled.typed().expect("fits");
    let (_, report) = same.call_reported((&state.weights,)).expect("runs");
    assert!(report.leaves().is_empty() && report.all_consumed());
    let (_, report) = same.executable().run_reported(state.weights).expect("runs");
    assert_eq!(report.leaves()[0].name, "argument 0");
    assert!(!report.all_consumed(), "it aliases nothing: {report}");
}

#[test]
fn a_refused_call_has_no_report() {
    let (client, device) = one_device();
    let step = step(&client);
    let mut bad = batch(&device);
    bad.rate = vector(&device, &[1.]);
    let error = step.call_reported((state(&device), &bad)).err();
    let (state, ()) = error.expect("a misfit").into_given().expect("refused");
    check_state(&state, 0);
}

/// The sum of `x` and `y`, of which the output can be only one.
fn two_donors(first: &str, second: &str, outputs: usize) -> String {
    let list = |each: &str| vec![each; outputs].join(", ");
    format!(
        "module @two_donors {{
           func.func @main(%x: tensor<4xf32> {{{first}}}, %y: tensor<2x2xi32> {{{second}}},
                           %z: tensor<4xf32> {{jax.buffer_donor = true}}) -> ({}) {{
             %i = stablehlo.convert %y : (tensor<2x2xi32>) -> tensor<2x2xf32>
             %j = stablehlo.reshape %i : (tensor<2x2xf32>) -> tensor<4xf32>
             %k = stablehlo.add %x, %j : tensor<4xf32>
             %s = stablehlo.add %k, %z : tensor<4xf32>
             return {} : {}
           }}
         }}",
        list("tensor<4xf32>"),
        list("%s"),
        list("tensor<4xf32>"),
    )
}

#[test]
fn it_is_said_why_a_donor_is_of_no_use() {
    let (client, _device) = one_device();
    let why = |executable: &Executable| -> Vec<Option<String>> {
        let inputs = executable.signature().inputs().len();
        let unused: Vec<_> = (0..inputs)
            .map(|input| executable.signature().why_unused(input))
            .collect();
        for (input, why) in executable.signature().inputs().iter().zip(&unused) {
            assert_eq!(input.donation() == Donation::Unused, why.is_some());
        }
        assert_eq!(executable.signature().why_unused(inputs), None);
        unused
    };
    let kinds = compiled_text(&client, FOUR_KINDS);
    let in_vain = Some("no output has 12 bytes".to_owned());
    assert_eq!(why(&kinds), [None, in_vain, None, None]);

    let text = two_donors("tf.aliasing_output = 0 : i32", "", 1);
    let one = compiled_text(&client, &text);
    let taken = Some("the only output of 16 bytes has another donor".to_owned());
    assert_eq!(why(&one), [None, None, taken]);

    let text = two_donors(
        "tf.aliasing_output = 0 : i32",
        "tf.aliasing_output = 1 : i32",
        2,
    );
    let two = compiled_text(&client, &text);
    let taken = "all 2 outputs of 16 bytes have other donors";
    assert_eq!(why(&two), [None, None, Some(taken.to_owned())]);
    let table = two.signature().to_string();
    assert!(table.contains(taken), "{table}");
}

#[test]
fn a_strict_program_refuses_a_donor_of_no_use_when_it_is_compiled() {
    let (client, _device) = one_device();
    let strict = |text: &str| {
        let program = Program::from_text(text).expect("text");
        let options = CompileOptions::new().strict_donation(true);
        client.compile(&program, &options)
    };
    let error = strict(FOUR_KINDS).expect_err("b has no output");
    assert_eq!(error.code(), Code::FailedPrecondition);
    for words in [
        "`four_kinds`",
        "argument 1",
        "f32[3]",
        "no output has 12 bytes",
    ] {
        assert!(error.message().contains(words), "no `{words}` in: {error}");
    }
    let text = two_donors("jax.buffer_donor = true", "jax.buffer_donor = true", 1);
    let error = strict(&text).expect_err("three donors of one output");
    let reasons = error.message().matches("another donor").count();
    assert_eq!(reasons, 2, "{error}");
    assert!(strict(STEP).is_ok());
    assert!(strict(&FOUR_KINDS.replace(" {jax.buffer_donor = true}", "")).is_ok());
    // Only when asked.
    let program = Program::from_text(FOUR_KINDS).expect("text");
    let lenient = CompileOptions::new().strict_donation(false);
    assert!(client.compile(&program, &lenient).is_ok());
    assert!(client.compile(&program, &CompileOptions::new()).is_ok());
}

// Interruptions.

#[test]
fn a_panic_between_the_step_and_the_assignment_takes_the_state_and_no_more() {
    let ended = in_child(
        "a_panic_between_the_step_and_the_assignment_takes_the_state_and_no_more",
        interrupted_steps,
    );
    ended.check_well();
}

fn interrupted_steps() {
    // 4 MiB, in place.
    const N: usize = 1 << 20;
    let (client, device) = one_device();
    let text = format!(
        "func.func @main(%w: tensor<{N}xf32> {{tf.aliasing_output = 0 : i32}}, %g: tensor<f32>) -> tensor<{N}xf32> {{
           %gs = stablehlo.broadcast_in_dim %g, dims = [] : (tensor<f32>) -> tensor<{N}xf32>
           %w1 = stablehlo.add %w, %gs : tensor<{N}xf32>
           return %w1 : tensor<{N}xf32>
         }}"
    );
    let step: Function<(Give<Buffer>, Ref<Buffer>), Buffer> =
        compiled_text(&client, &text).typed().expect("fits");
    let one = Buffer::scalar(&device, 1f32).expect("a number");
    let zeros = vec![0f32; N];
    let start = |value: f32| {
        let buffer = Buffer::from_host(&device, &zeros, &[N]).expect("room");
        let value = Buffer::scalar(&device, value).expect("a number");
        step.call((buffer, &value)).expect("runs")
    };
    let interrupted = |round: usize| {
        let weights = start(round as f32);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let next = step.call((weights, &one)).expect("runs");
            // Here the old weights are gone, and the new ones aren't kept yet.
            if round % 3 == 0 {
                next.wait().expect("runs");
            }
            let _snapshot = (round % 2 == 0).then(|| next.to_host_async::<f32>());
            if round < usize::MAX {
                panic!("on purpose, in round {round}");
            }
            next
        }));
        assert!(outcome.is_err());
    };
    (0..20).for_each(interrupted);
    let before = resident();
    (0..200).for_each(interrupted);
    check_resident(before);
    let weights = step.call((start(41.), &one)).expect("runs");
    assert_eq!(values(&weights)[..3], [42.; 3]);
}

// The numbers.

#[test]
fn a_thousand_steps_give_the_number_of_the_arithmetic() {
    let (client, device) = one_device();
    let step = step(&client);
    // 2^-10, so that everything is exact.
    let batch = Batch {
        gradient: vector(&device, &[1., -2., 16., 0.]),
        rate: Buffer::scalar(&device, 1f32 / 1024.).expect("a number"),
    };
    let mut state = state(&device);
    let mut last = None;
    for _ in 0..1000 {
        let (next, sum) = step.call((state, &batch)).expect("runs");
        (state, last) = (next, Some(sum));
    }
    // 1 + 2 + ... + 1000
    let change = |g: f32| g * 500_500. / 1024.;
    let weights = [1. - change(1.), 2. - change(-2.), 3. - change(16.), 4.];
    assert_eq!(values(&state.weights), weights);
    assert_eq!(values(&state.opt.momentum), [1000., -2000., 16000., 0.]);
    assert_eq!(state.opt.steps.to_scalar::<i32>().expect("a number"), 1000);
    let sum = last.expect("a thousand").to_scalar::<f32>();
    let wanted: f32 = weights.iter().sum();
    assert!((sum.expect("a number") - wanted).abs() < 0.01);
}

#[test]
fn a_program_that_jax_exported_takes_types() {
    let (client, device) = one_device();
    let step: Function<(Give<Buffer>, Ref<Buffer>), Buffer> = compiled(&client, "sgd_step")
        .typed()
        .expect("as JAX was told");
    let lesson = lesson("sgd_step");
    let g = lesson.arguments[1].buffer(0, &device);
    for _ in 0..100 {
        let w = lesson.arguments[0].buffer(0, &device);
        let (next, report) = step.call_reported((w, &g)).expect("runs");
        assert_eq!(values(&next), lesson.results[0].f32(0));
        assert!(report.all_consumed(), "{report}");
    }
    let lent = compiled(&client, "sgd_step").typed::<(Ref<Buffer>, Ref<Buffer>), Buffer>();
    assert!(lent.is_err(), "JAX was told to donate it");
}

#[test]
fn one_function_serves_many_threads() {
    fn shared<T: Send + Sync>(shared: &T) -> &T {
        shared
    }
    let (client, device) = one_device();
    let step = step(&client);
    let (step, batch) = (shared(&step), &batch(&device));
    std::thread::scope(|scope| {
        for rounds in [100, 150, 200, 250] {
            let state = state(&device);
            scope.spawn(move || {
                let mut state = state;
                for _ in 0..rounds {
                    (state, _) = step.call((state, batch)).expect("runs");
                }
                check_state(&state, rounds);
            });
        }
    });
    check_batch(batch);
}
