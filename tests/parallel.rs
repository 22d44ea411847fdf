//! Typed programs on many devices: what they compute, and how arguments and results go.
// The types of programs are what is tested here.
#![allow(clippy::type_complexity)]

mod cpu;
mod worlds;

use cpu::{client, compiled, compiled_text, lesson, values, vector, FAILS_LATER};
use worlds::{rate, step, Batch, Plain, Rows, State, World, WORLDS};
use xla::{
    Buffer, Client, Code, CompileOptions, Each, Error, Executable, Give, HostArray, HostTree,
    Layout, One, ParallelFunction, ParallelParameters, Part, PerDevice, Program, Ref, Results,
    Same, Shape, Split,
};

/// Everything lies on the devices.
type Placed = ParallelFunction<(Give<State>, Ref<Batch>, Ref<Buffer>), (Each<State>, One<Buffer>)>;
/// Batch and rate come from the host.
type Hosted =
    ParallelFunction<(Give<State>, Split<Batch>, Same<Buffer>), (Each<State>, One<Buffer>)>;

fn typed<P: ParallelParameters, R: Results>(executable: Executable) -> ParallelFunction<P, R> {
    executable.parallel().expect("it fits")
}

#[track_caller]
fn says<T>(result: Result<T, impl Into<Error>>, words: &[&str]) {
    let error: Error = result.err().expect("it is refused").into();
    assert_eq!(error.function(), None, "the plugin was asked: {error}");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

fn everywhere(client: &Client, mut check: impl FnMut(World, usize, Executable)) {
    for world in WORLDS {
        for devices in [1, 2, 4, 8] {
            check(world, devices, step(client, world, devices));
        }
    }
}

// Steps.

#[test]
fn a_hundred_steps_are_exact_and_leave_all_replicas_equal() {
    let client = client(8);
    everywhere(&client, |world, devices, executable| {
        let step: Placed = typed(executable);
        assert_eq!(
            step.signature().has_collectives(),
            devices > 1 || world == World::Replicas
        );
        let mut plain = Plain::new();
        let on = step.executable().devices().to_vec();
        let mut state = PerDevice::replicate(&on, &plain.host()).expect("room");
        let on_device = step.place(2, &rate(0.25)).expect("room");
        for seed in 0..100 {
            let rows = Rows::some(devices, seed);
            let batch = step.place_split(1, &rows.host()).expect("room");
            let mean;
            (state, mean) = step.call((state, &batch, &on_device)).expect("runs");
            let wanted = plain.step(&rows, 0.25);
            assert_eq!(mean.to_scalar::<f32>().expect("a number"), wanted);
            // What was lent is as it was.
            let joined = batch.gather(0).expect("values");
            assert!(joined == rows.host(), "{world:?}, {devices} devices");
        }
        plain.check_all(&state);
        assert_eq!(plain.steps, 100);
        assert_eq!(values(&on_device[devices - 1]), [0.25]);
    });
}

#[test]
fn host_arrays_are_split_or_the_same_at_each_call() {
    let client = client(8);
    everywhere(&client, |world, devices, executable| {
        let step: Hosted = typed(executable);
        let mut plain = Plain::new();
        let mut state = step.place(0, &plain.host()).expect("room");
        for seed in 0..5 {
            let rows = Rows::some(devices, seed);
            let mean;
            (state, mean) = step.call((state, &rows.host(), &rate(0.5))).expect("runs");
            let wanted = plain.step(&rows, 0.5);
            assert_eq!(
                mean.to_scalar::<f32>().expect("a number"),
                wanted,
                "{world:?}"
            );
            assert_eq!(mean.device(), step.executable().devices()[0]);
            plain.check_all(&state);
        }
        // Each state lies on its own device.
        let on: Vec<_> = state.devices().into_iter().flatten().collect();
        assert_eq!(on, step.executable().devices());
    });
}

#[test]
fn pending_results_go_into_the_next_step_at_once() {
    let client = client(4);
    for world in WORLDS {
        let step: Hosted = typed(step(&client, world, 4));
        let rows = Rows::some(4, 3);
        let (host, quarter) = (rows.host(), rate(0.25));
        let mut plain = Plain::new();
        let mut state = step.place(0, &plain.host()).expect("room");
        for _ in 0..200 {
            state = step.call((state, &host, &quarter)).expect("runs").0;
            plain.step(&rows, 0.25);
        }
        state.wait().expect("no failure");
        plain.check_all(&state);
    }
}

#[test]
fn a_part_of_a_larger_state_is_lent() {
    let client = client(4);
    for world in WORLDS {
        type Parts =
            ParallelFunction<(Give<State>, Part<Batch>, Part<Buffer>), (Each<State>, Each<Buffer>)>;
        let step: Parts = typed(step(&client, world, 4));
        let rows = Rows::some(4, 1);
        let batch = step.place_split(1, &rows.host()).expect("room");
        let half = step.place(2, &rate(0.5)).expect("room");
        let data: PerDevice<(Batch, Buffer)> = batch.zip(half).expect("four and four");
        let mut plain = Plain::new();
        let mut state = step.place(0, &plain.host()).expect("room");
        for _ in 0..5 {
            let means;
            let (batch, rate) = (data.part(|data| &data.0), data.part(|data| &data.1));
            (state, means) = step.call((state, batch, rate)).expect("runs");
            let wanted = plain.step(&rows, 0.5);
            for mean in &means {
                assert_eq!(values(mean), [wanted]);
            }
            means.assert_replicas_equal().expect("the same");
            plain.check_all(&state);
        }
    }
}

#[test]
fn results_are_given_for_each_device_or_once_or_in_part() {
    let client = client(2);
    fn run<R: Results>(client: &Client, world: World) -> (R::Values, Plain) {
        let step: ParallelFunction<(Give<State>, Split<Batch>, Same<Buffer>), R> =
            typed(step(client, world, 2));
        let mut plain = Plain::new();
        let state = step.place(0, &plain.host()).expect("room");
        let rows = Rows::some(2, 2);
        let values = step.call((state, &rows.host(), &rate(1.))).expect("runs");
        plain.step(&rows, 1.);
        (values, plain)
    }
    for world in WORLDS {
        // One tree of all results.
        let (each, plain) = run::<Each<(State, Buffer)>>(&client, world);
        let (state, means) = each.unzip();
        plain.check_all(&state);
        means.assert_replicas_equal().expect("the same");
        let (one, plain) = run::<One<(State, Buffer)>>(&client, world);
        plain.check(&one.0);
        assert_eq!(one.0.w.device(), client.device(0).expect("two"));
        // A tuple of leaves.
        type Leaves = (Each<Buffer>, One<Buffer>, Each<Buffer>);
        let ((w, steps, _), plain) = run::<Leaves>(&client, world);
        assert_eq!(values(&w[1]), plain.w);
        assert_eq!(steps.to_scalar::<i32>().expect("a number"), 1);
        // Tuples in tuples.
        type Nested = ((One<State>,), Each<Buffer>);
        let (((state,), _), plain) = run::<Nested>(&client, world);
        plain.check(&state);
    }
}

#[test]
fn the_report_tells_what_became_of_each_leaf_on_each_device() {
    let client = client(8);
    everywhere(&client, |world, devices, executable| {
        let step: Hosted = typed(executable);
        let step = step.with_names(&["state", "batch", "rate"]);
        let plain = Plain::new();
        let state = step.place(0, &plain.host()).expect("room");
        let rows = Rows::some(devices, 0);
        let arguments = (state, &rows.host(), &rate(1.));
        let (_, report) = step.call_reported(arguments).expect("runs");
        let leaves: Vec<_> = report
            .leaves()
            .iter()
            .map(|leaf| {
                (
                    leaf.device,
                    leaf.argument,
                    leaf.name.as_str(),
                    leaf.consumed,
                )
            })
            .collect();
        // What comes from the host is given, and the program has no use for its memory.
        let wanted: Vec<_> = (0..devices)
            .flat_map(|device| {
                [
                    (device, 0, "state.w", true),
                    (device, 1, "state.steps", true),
                    (device, 2, "batch.x", false),
                    (device, 3, "batch.y", false),
                    (device, 4, "rate", false),
                ]
            })
            .collect();
        assert_eq!(leaves, wanted, "{world:?}");
        assert!(!report.all_consumed());
    });
}

#[test]
fn a_program_without_arguments() {
    let client = client(4);
    for devices in [1, 2, 4] {
        let text = format!(
            r#"
module @numbers attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {devices} : i32}} {{
  func.func @main() -> (tensor<ui32>, tensor<f32>) {{
    %id = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    return %id, %number : tensor<ui32>, tensor<f32>
  }}
}}"#
        );
        let numbers: ParallelFunction<(), (Each<Buffer>, Each<Buffer>)> =
            typed(compiled_text(&client, &text));
        let ((ids, floats), report) = numbers.call_reported(()).expect("runs");
        assert!(report.leaves().is_empty());
        for position in 0..devices {
            let id = ids[position].to_scalar::<u32>().expect("a number");
            assert_eq!(id as usize, position);
            assert_eq!(values(&floats[position]), [position as f32]);
        }
    }
    // With collectives, and without any result.
    let text = r#"
module @nothing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<f32>) { return }
}"#;
    let program = Program::from_text(text).expect("text");
    if let Ok(nothing) = client.compile(&program, &CompileOptions::new()) {
        let nothing: ParallelFunction<(Ref<Buffer>,), Each<()>> = typed(nothing);
        let x = PerDevice::replicate(&client.devices()[..2], &rate(1.)).expect("room");
        assert_eq!(nothing.call((&x,)).expect("runs").len(), 2);
    }
}

#[test]
fn a_run_that_fails_later_is_told_by_device_and_not_carried_on() {
    let client = client(2);
    let fails = FAILS_LATER
        .replace("tensor<4xf32>", "tensor<2xf32>")
        .replace("[0:4]", "[0:2]");
    let program = Program::from_text(fails).expect("text");
    let options = CompileOptions::new().replicas(2);
    let fails: ParallelFunction<(Give<Buffer>, Same<Buffer>), Each<Buffer>> =
        typed(client.compile(&program, &options).expect("compiles"));
    let step: Hosted = typed(step(&client, World::Replicas, 2));
    let step = step.with_names(&["state", "batch", "rate"]);
    let mut plain = Plain::new();
    let rows = Rows::some(2, 0);
    for _ in 0..3 {
        let w = PerDevice::replicate(&client.devices(), &array(&[2])).expect("room");
        let w = fails.call((w, &rate(1.))).expect("the failure comes later");
        let error = w.wait().expect_err("not so much memory");
        for word in ["on device 0", "Out of memory"] {
            assert!(error.message().contains(word), "no `{word}` in: {error}");
        }
        let state = step.place(0, &plain.host()).expect("room");
        let (ws, steps) = state.map(|state| (state.w, state.steps)).unzip();
        let state = w
            .zip(steps)
            .expect("two")
            .map(|(w, steps)| State { w, steps });
        let error = step
            .call((state, &rows.host(), &rate(1.)))
            .err()
            .expect("no values");
        assert!(error.is_refusal(), "{error}");
        for word in ["`state.w` (argument 0)", "on device 0", "Out of memory"] {
            assert!(error.to_string().contains(word), "no `{word}` in: {error}");
        }
        let (state, (), ()) = error.into_given().expect("refused");
        let state = state
            .zip(ws)
            .expect("two")
            .map(|(state, w)| State { w, ..state });
        let (next, _) = step.call((state, &rows.host(), &rate(1.))).expect("runs");
        plain.step(&rows, 1.);
        plain.check_all(&next);
    }
}

// The oracle's programs.

/// An argument as the oracle has it on each device.
fn on_all(executable: &Executable, of: &cpu::Values) -> PerDevice<Buffer> {
    PerDevice::from_fn(executable.devices(), |position, device| {
        Ok(of.buffer(position, device))
    })
    .expect("on its device")
}

#[test]
fn programs_exported_by_jax_and_written_by_hand_give_what_the_oracle_says() {
    let client = client(4);
    for name in ["sgd_partitions_4", "sgd_replicas_4"] {
        let lesson = lesson(name);
        let step: ParallelFunction<(Give<Buffer>, Ref<Buffer>), Each<Buffer>> =
            typed(compiled(&client, name));
        let g = on_all(step.executable(), &lesson.arguments[1]);
        for _ in 0..3 {
            let w = on_all(step.executable(), &lesson.arguments[0]);
            let next = step.call((w, &g)).expect("runs");
            for (position, w) in next.iter().enumerate() {
                assert_eq!(values(w), lesson.results[0].f32(position), "{name}");
            }
            next.assert_replicas_equal().expect("the same");
        }
    }
    for name in ["two_devices", "two_devices_inferred", "pmap_4"] {
        let lesson = lesson(name);
        let sum: ParallelFunction<(Ref<Buffer>,), Each<Buffer>> = typed(compiled(&client, name));
        let row = on_all(sum.executable(), &lesson.arguments[0]);
        let sums = sum.call((&row,)).expect("runs");
        for (position, sum) in sums.iter().enumerate() {
            assert_eq!(values(sum), lesson.results[0].f32(position), "{name}");
        }
    }
    for name in ["all_reduce_replicas_2", "all_reduce_replicas_4"] {
        let lesson = lesson(name);
        let sum: ParallelFunction<(Ref<Buffer>,), (Each<Buffer>, Each<Buffer>)> =
            typed(compiled(&client, name));
        let row = on_all(sum.executable(), &lesson.arguments[0]);
        let (sums, ids) = sum.call((&row,)).expect("runs");
        for position in 0..sums.len() {
            assert_eq!(
                values(&sums[position]),
                lesson.results[0].f32(position),
                "{name}"
            );
            let id = ids[position].to_scalar::<u32>().expect("a number");
            assert_eq!(id as f32, lesson.results[1].f32(position)[0]);
        }
    }
}

// Splitting over replicas.

/// `x + replica` on each device, whatever the dims of `x`.
fn add_replica(client: &Client, devices: usize, dims: &str) -> Executable {
    let text = format!(
        r#"
module @add_replica attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {devices} : i32}} {{
  func.func @main(%x: tensor<{dims}f32>) -> tensor<{dims}f32> {{
    %id = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<{dims}f32>
    %y = stablehlo.add %x, %numbers : tensor<{dims}f32>
    return %y : tensor<{dims}f32>
  }}
}}"#
    );
    compiled_text(client, &text)
}

fn array(dims: &[usize]) -> HostTree<'static, Buffer> {
    let count: usize = dims.iter().product();
    let counted: Vec<f32> = (0..count).map(|x| 10. * x as f32).collect();
    HostArray::new(&counted, dims).expect("as many").into()
}

#[test]
fn the_leading_axis_is_cut_or_counts_the_replicas() {
    let client = client(4);
    let add: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        typed(add_replica(&client, 4, "1x2x"));
    // Cut into rows, and with an axis that counts.
    for dims in [&[4, 2][..], &[4, 1, 2]] {
        let sums = add.call((&array(dims),)).expect("runs");
        for (position, sum) in sums.iter().enumerate() {
            assert_eq!(sum.dims(), [1, 2]);
            let first = 20. * position as f32 + position as f32;
            assert_eq!(values(sum), [first, first + 10.]);
        }
    }
    let scalars: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        typed(add_replica(&client, 4, ""));
    let sums = scalars.call((&array(&[4]),)).expect("runs");
    let sums: Vec<f32> = sums.iter().flat_map(values).collect();
    assert_eq!(sums, [0., 11., 22., 33.]);
    says(
        scalars.call((&array(&[]),)),
        &["`#0`", "f32[]", "leading axis", "4 replicas", "Same"],
    );
    says(
        add.call((&array(&[6, 2]),)),
        &["`#0`", "f32[6,2]", "axis 0 has 6", "remainder of 2", "4"],
    );
    says(
        add.call((&array(&[8, 2]),)),
        &["wanted f32[4,2]", "got f32[8,2]"],
    );
    says(
        add.call((&array(&[4, 3]),)),
        &["wanted f32[4,2]", "got f32[4,3]"],
    );
    says(
        add.call((&array(&[3, 1, 2]),)),
        &["wanted f32[4,1,2]", "got f32[3,1,2]"],
    );
    says(add.call((&array(&[4, 1, 1, 2]),)), &["got f32[4,1,1,2]"]);
    let integers = HostArray::new(&[0i32; 8], &[4, 2]).expect("8").into();
    says(add.call((&integers,)), &["wanted f32[4,2]", "got s32[4,2]"]);
    // On one device nothing is cut, and no axis counts.
    let one: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        typed(add_replica(&client, 1, "1x2x"));
    assert_eq!(
        values(&one.call((&array(&[1, 2]),)).expect("runs")[0]),
        [0., 10.]
    );
    says(one.call((&array(&[1, 1, 2]),)), &["wanted f32[1,2]"]);
    // All the same for all.
    let same: ParallelFunction<(Same<Buffer>,), Each<Buffer>> =
        typed(add_replica(&client, 4, "1x2x"));
    let sums = same.call((&array(&[1, 2]),)).expect("runs");
    assert_eq!(values(&sums[3]), [3., 13.]);
    says(
        same.call((&array(&[4, 2]),)),
        &["wanted f32[1,2]", "got f32[4,2]"],
    );
    // Nothing can be split too.
    let none: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        typed(add_replica(&client, 4, "0x2x"));
    assert_eq!(
        none.call((&array(&[0, 2]),)).expect("runs")[3].dims(),
        [0, 2]
    );
}

#[test]
fn host_arrays_go_into_the_layout_that_a_program_wants() {
    let client = client(2);
    let text = r#"
module @columns attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) -> tensor<2x3xf32> {
    %y = stablehlo.add %x, %x : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}"#;
    let split: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        typed(compiled_text(&client, text));
    let columns = Layout::new(&[0, 1]).expect("both");
    assert_eq!(*split.signature().inputs()[0].layout(), columns);
    let doubled = split.call((&array(&[4, 3]),)).expect("runs");
    assert_eq!(values(&doubled[0]), [0., 20., 40., 60., 80., 100.]);
    assert_eq!(values(&doubled[1]), [120., 140., 160., 180., 200., 220.]);
    let placed = split.place_split(0, &array(&[4, 3])).expect("room");
    assert_eq!(*placed[1].layout(), columns);
    assert_eq!(values(&placed[1]), [60., 70., 80., 90., 100., 110.]);
    // What lies otherwise is refused, by device.
    let lent: ParallelFunction<(Ref<Buffer>,), Each<Buffer>> = typed(compiled_text(&client, text));
    let rows = PerDevice::shard(&client.devices(), &array(&[4, 3]), 0).expect("even");
    says(lent.call((&rows,)), &["`#0`", "device 0", "layout"]);
    let shape = Shape::of::<bool>(&[4, 3]).expect("small");
    let truth = HostArray::zeros(shape).into();
    says(split.call((&truth,)), &["pred[4,3]"]);
}

// What is refused once and for all.

#[test]
fn types_that_do_not_fit_the_program_are_refused_at_once() {
    let client = client(2);
    type Wrong<P, R> = xla::Result<ParallelFunction<P, R>>;
    for world in WORLDS {
        let executable = || step(&client, world, 2);
        let lent: Wrong<(Ref<State>, Ref<Batch>, Ref<Buffer>), (Each<State>, One<Buffer>)> =
            executable().parallel();
        says(lent, &["by reference", "donates", "Give"]);
        let part: Wrong<(Part<State>, Ref<Batch>, Ref<Buffer>), (Each<State>, One<Buffer>)> =
            executable().parallel();
        says(part, &["by reference", "donates"]);
        let few: Wrong<(Give<State>, Ref<Batch>), (Each<State>, One<Buffer>)> =
            executable().parallel();
        says(few, &["5 arguments", "4 leaves"]);
        let results: Wrong<(Give<State>, Ref<Batch>, Ref<Buffer>), Each<State>> =
            executable().parallel();
        says(results, &["3 outputs", "2 leaves"]);
        let function: xla::Result<xla::Function<(Give<State>, Ref<Batch>, Ref<Buffer>), State>> =
            executable().typed();
        says(function, &["2 devices", "parallel"]);
    }
}

#[test]
fn what_is_placed_must_be_a_parameter_of_the_type() {
    let client = client(2);
    let step: Placed = typed(step(&client, World::Replicas, 2));
    let step = step.with_names(&["state", "batch"]);
    let rows = Rows::some(2, 0);
    says(step.place(3, &rate(1.)), &["3 parameters", "number 3"]);
    says(step.place(1, &rate(1.)), &["`batch`", "Buffer"]);
    says(step.place_split(2, &rows.host()), &["`#2`", "Batch"]);
    says(
        step.place(1, &rows.host()),
        &["`batch`", "`x`", "wanted f32[2,2]", "got f32[4,2]"],
    );
    let wide = Rows::some(3, 0);
    says(
        step.place_split(1, &wide.host()),
        &["`batch`", "`x`", "wanted f32[4,2]", "got f32[6,2]"],
    );
    let executable = step.executable();
    says(
        executable.place(4, &rows.host()),
        &["2 arrays from input 4 on", "5 inputs"],
    );
    says(executable.place(9, &rate(1.)), &["input 9"]);
    // By its number the rate is found too.
    let placed = executable.place(4, &rate(3.)).expect("room");
    assert_eq!(values(&placed[1]), [3.]);
    assert_eq!(vector(&executable.devices()[0], &[1.]).dims(), [1]);
}
