//! Programs on several devices, on a real CPU plugin.
//!
//! What the runtime does, and what these tests hold against it: one bad argument on one
//! device loses the other devices' donated inputs, or is a segfault, and where the
//! devices speak to each other the process is ended about a minute later, because the
//! others wait in vain; an argument whose own run failed does the same; a loop of
//! launches that nobody awaits hangs once the threads that they wait on are used up;
//! two threads that launch at once may enqueue in different orders on different
//! devices.

mod cpu;

use std::thread;

use cpu::{
    client, compiled, compiled_text, device, failing, in_child, lesson, refused, until_pending,
    values, vector, Lesson, FAILS_LATER, SLOW, SLOW_LENGTH,
};
use xla::{
    Argument, ArgumentList, Buffer, Client, Code, CompileOptions, DeviceAssignment, Donation,
    Executable, GivenBack, Outputs, Program,
};

/// A lesson's argument on every device of a program.
fn on_all(executable: &Executable, lesson: &Lesson, argument: usize) -> Vec<Buffer> {
    let devices = executable.devices();
    let devices = devices.iter().enumerate();
    devices
        .map(|(position, device)| lesson.arguments[argument].buffer(position, device))
        .collect()
}

/// Lists of arguments from one list of buffers for each argument: lent.
fn lent<'a>(arguments: &[&'a [Buffer]]) -> Vec<ArgumentList<'a>> {
    (0..arguments[0].len())
        .map(|position| {
            let mut list = ArgumentList::new();
            arguments.iter().for_each(|each| list.push(&each[position]));
            list
        })
        .collect()
}

/// The state is given, the batch is lent.
fn step(executable: &Executable, state: Vec<Buffer>, batch: &[Buffer]) -> Vec<Buffer> {
    let outputs = executable
        .run_per_device(
            state
                .into_iter()
                .zip(batch)
                .collect::<Vec<(Buffer, &Buffer)>>(),
        )
        .expect("runs");
    single(outputs)
}

fn single(outputs: Vec<Outputs>) -> Vec<Buffer> {
    let outputs = outputs.into_iter();
    outputs
        .map(|each| each.into_single().expect("one"))
        .collect()
}

// Right values.

#[test]
fn every_program_gives_each_device_what_the_oracle_says() {
    let client = client(4);
    for name in [
        "two_devices",
        "two_devices_inferred",
        "sgd_partitions_4",
        "named_sharding_4",
        "pmap_4",
        "all_reduce_replicas_2",
        "all_reduce_replicas_4",
        "sgd_replicas_4",
    ] {
        let executable = compiled(&client, name);
        let lesson = lesson(name);
        let arguments: Vec<Vec<Buffer>> = (0..lesson.arguments.len())
            .map(|argument| on_all(&executable, &lesson, argument))
            .collect();
        let arguments: Vec<&[Buffer]> = arguments.iter().map(Vec::as_slice).collect();
        for _ in 0..3 {
            let outputs = executable.run_per_device(lent(&arguments)).expect("runs");
            assert_eq!(outputs.len(), executable.devices().len(), "{name}");
            for (position, outputs) in outputs.iter().enumerate() {
                let device = &executable.devices()[position];
                assert_eq!(outputs.len(), lesson.results.len(), "{name}");
                for (output, wanted) in outputs.iter().zip(&lesson.results) {
                    assert_eq!(output.device(), *device, "{name}");
                    assert_eq!(output.dims(), wanted.dims, "{name}");
                    let wanted_values = wanted.f32(position);
                    if wanted.dtype == "ui32" {
                        let got = output.to_host::<u32>().expect("u32");
                        let got: Vec<f32> = got.into_iter().map(|x| x as f32).collect();
                        assert_eq!(got, wanted_values, "{name} on device {position}");
                    } else {
                        assert_eq!(values(output), wanted_values, "{name} on device {position}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_partitioned_program_takes_and_donates_what_one_device_holds() {
    let client = client(4);
    for name in ["sgd_partitions_4", "sgd_replicas_4"] {
        let executable = compiled(&client, name);
        let signature = executable.signature();
        let lesson = lesson(name);
        for (input, wanted) in signature.inputs().iter().zip(&lesson.arguments) {
            assert_eq!(input.shape().dims(), wanted.dims, "{name}");
            let donation = if wanted.donated {
                Donation::Into {
                    output: 0,
                    required: false,
                }
            } else {
                Donation::None
            };
            assert_eq!(input.donation(), donation, "{name}");
        }
        assert!(signature.has_collectives(), "{name}");
        let exported = name == "sgd_partitions_4";
        let first = signature.inputs()[0].name();
        assert_eq!(first, exported.then_some("w"), "{name}");
        assert_eq!(signature.donated_bytes(), 16, "{name}");
        let stats = executable.memory_stats().expect("stated sizes");
        assert_eq!(stats.alias_bytes, 16, "{name}");
    }
}

#[test]
fn lent_inputs_survive_on_every_device() {
    let client = client(4);
    for name in ["sgd_partitions_4", "sgd_replicas_4"] {
        let executable = compiled(&client, name);
        let lesson = lesson(name);
        let w = on_all(&executable, &lesson, 0);
        let g = on_all(&executable, &lesson, 1);
        for round in 0..50 {
            let outputs = executable.run_per_device(lent(&[&w, &g])).expect("runs");
            for (position, output) in single(outputs).iter().enumerate() {
                let wanted = lesson.results[0].f32(position);
                assert_eq!(values(output), wanted, "{name}, round {round}");
            }
        }
        for position in 0..4 {
            assert_eq!(values(&w[position]), lesson.arguments[0].f32(position));
            assert_eq!(values(&g[position]), lesson.arguments[1].f32(position));
        }
    }
}

#[test]
fn each_device_of_an_assignment_gets_its_own_arguments() {
    let client = client(4);
    let ids: Vec<i32> = client.devices().iter().map(|device| device.id()).collect();
    let ids = [ids[3], ids[1], ids[0], ids[2]];
    let assignment = DeviceAssignment::new(4, 1, &ids).expect("fits");
    let options = CompileOptions::new().device_assignment(assignment);
    let program = cpu::program("all_reduce_replicas_4");
    let executable = client.compile(&program, &options).expect("compiles");
    let devices = executable.devices();
    let got: Vec<i32> = devices.iter().map(|device| device.id()).collect();
    assert_eq!(got, ids);
    let lesson = lesson("all_reduce_replicas_4");
    let rows = on_all(&executable, &lesson, 0);
    let outputs = executable.run_per_device(&rows).expect("runs");
    for (position, outputs) in outputs.into_iter().enumerate() {
        let [sum, replica] = outputs.into_array().expect("two");
        assert_eq!(sum.device(), devices[position]);
        assert_eq!(values(&sum), lesson.results[0].f32(position));
        assert_eq!(replica.to_scalar::<u32>().expect("u32"), position as u32);
    }
}

#[test]
fn a_loaded_executable_runs_and_donates_on_all_devices() {
    let client = client(4);
    let bytes = compiled(&client, "sgd_replicas_4")
        .serialize()
        .expect("bytes");
    let executable = client.deserialize(&bytes).expect("loads");
    assert_eq!(executable.devices().len(), 4);
    assert_eq!(executable.signature().replicas(), 4);
    assert_eq!(executable.signature().donated_bytes(), 16);
    let lesson = lesson("sgd_replicas_4");
    let g = on_all(&executable, &lesson, 1);
    let w = step(&executable, on_all(&executable, &lesson, 0), &g);
    for (position, w) in w.iter().enumerate() {
        assert_eq!(values(w), lesson.results[0].f32(position));
    }
    let kept = on_all(&executable, &lesson, 0);
    executable.run_per_device(lent(&[&kept, &g])).expect("runs");
    assert_eq!(values(&kept[3]), lesson.arguments[0].f32(3));
}

#[test]
fn a_run_on_all_devices_takes_a_program_for_one_too() {
    let client = client(1);
    let counter = compiled(&client, "counter");
    let count = Buffer::scalar(&device(&client, 0), 1f32).expect("a number");
    let outputs = single(counter.run_per_device([count]).expect("runs"));
    assert_eq!(outputs.len(), 1);
    assert_eq!(outputs[0].to_scalar::<f32>().expect("a number"), 2.);
}

// Refused before any device starts.

struct Ready {
    client: Client,
    executable: Executable,
    lesson: Lesson,
    name: &'static str,
}

fn ready(name: &'static str) -> Ready {
    let client = client(4);
    Ready {
        executable: compiled(&client, name),
        lesson: lesson(name),
        client,
        name,
    }
}

impl Ready {
    fn all(&self, argument: usize) -> Vec<Buffer> {
        on_all(&self.executable, &self.lesson, argument)
    }

    /// Had a device started with a refused launch, it would be waiting for the others,
    /// and this launch would not come out right.
    #[track_caller]
    fn still_runs(&self) {
        let next = step(&self.executable, self.all(0), &self.all(1));
        for (position, next) in next.iter().enumerate() {
            assert_eq!(values(next), self.lesson.results[0].f32(position));
        }
    }

    /// Checks that all `w` came back that were not replaced, in order and as they were.
    #[track_caller]
    fn came_back(&self, given: &[GivenBack], bad: Option<usize>) {
        let places: Vec<_> = given
            .iter()
            .map(|each| (each.device, each.argument))
            .collect();
        assert_eq!(places, [(0, 0), (1, 0), (2, 0), (3, 0)], "{}", self.name);
        for each in given.iter().filter(|each| Some(each.device) != bad) {
            assert_eq!(
                values(&each.buffer),
                self.lesson.arguments[0].f32(each.device)
            );
        }
    }

    /// How messages call an argument: by its name too, where the program has one.
    fn describe(&self, argument: usize) -> String {
        match self.executable.signature().inputs()[argument].name() {
            Some(name) => format!("argument {argument} (`{name}`) of `"),
            None => format!("argument {argument} of `"),
        }
    }

    /// Gives `w` and lends `g` everywhere, but `bad` is the `w` of device `position`.
    #[track_caller]
    fn bad_w(&self, position: usize, bad: Buffer, words: &[&str]) -> Buffer {
        let mut w = self.all(0);
        w[position] = bad;
        let g = self.all(1);
        let at = format!("on device {position}");
        let name = self.describe(0);
        let words: Vec<&str> = words.iter().copied().chain([&*at, &*name]).collect();
        let given = refused(
            self.executable.run_per_device(w.into_iter().zip(&g)),
            &words,
        );
        self.came_back(&given, Some(position));
        for (position, g) in g.iter().enumerate() {
            assert_eq!(values(g), self.lesson.arguments[1].f32(position));
        }
        self.still_runs();
        let bad = given.into_iter().nth(position);
        bad.expect("all came back").buffer
    }

    /// Gives `w` and lends `g` everywhere, but `bad` is the `g` of device `position`.
    #[track_caller]
    fn bad_g(&self, position: usize, bad: Buffer, words: &[&str]) {
        let mut g = self.all(1);
        g[position] = bad;
        let at = format!("on device {position}");
        let name = self.describe(1);
        let words: Vec<&str> = words.iter().copied().chain([&*at, &*name]).collect();
        let w = self.all(0);
        let given = refused(
            self.executable.run_per_device(w.into_iter().zip(&g)),
            &words,
        );
        self.came_back(&given, None);
        self.still_runs();
    }
}

const BOTH_WORLDS: [&str; 2] = ["sgd_replicas_4", "sgd_partitions_4"];

#[test]
fn a_wrong_element_type_on_any_device_is_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let device = device(&ready.client, position);
            let bad = || Buffer::from_host(&device, &[7i32; 4], &[4]).expect("room");
            let bad_g = || {
                let dims = ready.lesson.arguments[1].dims.clone();
                Buffer::from_host(&device, &[7i32; 4], &dims).expect("room")
            };
            let back = ready.bad_w(position, bad(), &["wanted f32[4]", "got s32[4]"]);
            assert_eq!(back.to_host::<i32>().expect("s32"), [7; 4]);
            ready.bad_g(position, bad_g(), &["wanted f32[", "got s32["]);
        }
    }
}

#[test]
fn other_dims_with_as_many_bytes_on_any_device_are_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let device = device(&ready.client, position);
            let bad = || Buffer::from_host(&device, &[7f32; 4], &[2, 2]).expect("room");
            let back = ready.bad_w(position, bad(), &["wanted f32[4]", "got f32[2,2]"]);
            assert_eq!(values(&back), [7.; 4]);
            ready.bad_g(position, bad(), &["wanted f32[", "got f32[2,2]"]);
        }
    }
}

#[test]
fn another_size_on_any_device_is_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let device = device(&ready.client, position);
            let bad = || vector(&device, &[7.; 5]);
            let back = ready.bad_w(position, bad(), &["wanted f32[4]", "got f32[5]"]);
            assert_eq!(values(&back), [7.; 5]);
            ready.bad_g(position, bad(), &["wanted f32[", "got f32[5]"]);
        }
    }
}

#[test]
fn a_buffer_of_another_device_on_any_device_is_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let here = format!("{:?}", device(&ready.client, position));
            let other = device(&ready.client, (position + 1) % 4);
            let there = format!("{other:?}");
            let words = ["wanted it on", &here, &there, "copy_to_device"];
            let w = ready.lesson.arguments[0].buffer(position, &other);
            let back = ready.bad_w(position, w, &words);
            assert_eq!(back.device(), other);
            ready.bad_g(
                position,
                ready.lesson.arguments[1].buffer(position, &other),
                &words,
            );
        }
    }
}

#[test]
fn a_buffer_of_another_client_on_any_device_is_refused() {
    let other = client(4);
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let there = device(&other, position);
            let w = ready.lesson.arguments[0].buffer(position, &there);
            let back = ready.bad_w(position, w, &["another client"]);
            assert_eq!(back.client(), other);
            let g = ready.lesson.arguments[1].buffer(position, &there);
            ready.bad_g(position, g, &["another client"]);
        }
    }
}

#[test]
fn too_few_or_too_many_arguments_on_any_device_are_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let at = format!("on device {position}");
            for (count, said) in [(0, "1 w"), (2, "3 w")] {
                let (w, g) = (ready.all(0), ready.all(1));
                let lists = w.into_iter().zip(&g).enumerate().map(|(i, (w, g))| {
                    let mut list = ArgumentList::new();
                    list.push(w);
                    let lend = if i == position { count } else { 1 };
                    (0..lend).for_each(|_| list.push(g));
                    list
                });
                let result = ready.executable.run_per_device(lists);
                let given = refused(result, &["takes 2 arguments", said, &at]);
                ready.came_back(&given, None);
                ready.still_runs();
            }
        }
    }
}

#[test]
fn an_argument_given_on_one_device_and_lent_on_another_is_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 1..4 {
            for lend_first in [false, true] {
                let (w, g) = (ready.all(0), ready.all(1));
                let (mine, mut moved) = (ready.all(0), Vec::new());
                let mut lists = Vec::new();
                for (i, w) in w.into_iter().enumerate() {
                    let mut list = ArgumentList::new();
                    if (i == position) != lend_first {
                        list.push(&mine[i]);
                    } else {
                        moved.push(i);
                        list.push(Argument::Given(w));
                    }
                    list.push(&g[i]);
                    lists.push(list);
                }
                let on = if lend_first && position != 1 {
                    1
                } else {
                    position
                };
                // Device 0 is compared with the others in turn.
                let (first, other) = if lend_first {
                    ("lent on device 0", format!("given on device {}", position))
                } else {
                    ("given on device 0", format!("lent on device {on}"))
                };
                let result = ready.executable.run_per_device(lists);
                let given = refused(result, &["argument 0", first, &other]);
                let came: Vec<usize> = given.iter().map(|each| each.device).collect();
                assert_eq!(came, moved);
                for each in &given {
                    let wanted = ready.lesson.arguments[0].f32(each.device);
                    assert_eq!(values(&each.buffer), wanted);
                }
                ready.still_runs();
            }
        }
    }
}

#[test]
fn too_few_or_too_many_lists_are_refused() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for count in [0, 1, 3, 5] {
            let (w, g) = (ready.all(0), ready.all(1));
            let more = ready.all(0);
            let lists: Vec<_> = w
                .into_iter()
                .chain(more)
                .zip(g.iter().cycle())
                .take(count)
                .collect();
            let said = format!("{count} were given");
            let given = refused(
                ready.executable.run_per_device(lists),
                &["runs on 4 devices", &said],
            );
            assert_eq!(given.len(), count);
            for (place, each) in given.iter().enumerate() {
                assert_eq!((each.device, each.argument), (place, 0));
                let wanted = ready.lesson.arguments[0].f32(place % 4);
                assert_eq!(values(&each.buffer), wanted);
            }
            ready.still_runs();
        }
    }
}

#[test]
fn a_program_for_several_devices_is_not_run_on_one() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        let (w, g) = (ready.all(0).remove(0), ready.all(1).remove(0));
        let words = ["runs on 4 devices", "1 were given", "run_per_device"];
        let given = refused(ready.executable.run((w, &g)), &words);
        assert_eq!(given.len(), 1);
        assert_eq!(values(&given[0].buffer), ready.lesson.arguments[0].f32(0));
        ready.still_runs();
    }
}

/// The number of all arguments together is right, as they lie one after another.
#[test]
fn lists_that_are_right_together_only_are_refused() {
    let client = client(4);
    let sum = |devices: usize| {
        let program = Program::from_text(format!(
            "module @sum attributes {{mhlo.num_replicas = {devices} : i32}} {{
               func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
                 %c = stablehlo.add %a, %b : tensor<f32>
                 return %c : tensor<f32>
               }}
             }}"
        ));
        let options = CompileOptions::new();
        let compiled = client.compile(&program.expect("text"), &options);
        compiled.expect("compiles")
    };
    let lists = |devices: &[usize], counts: &[usize]| -> Vec<Vec<Buffer>> {
        let numbers = |(device, count): (&usize, &usize)| {
            let device = client.device(*device).expect("a device");
            let number = |n| Buffer::scalar(&device, n as f32).expect("room");
            (0..*count).map(number).collect()
        };
        devices.iter().zip(counts).map(numbers).collect()
    };

    let two = lists(&[0, 0], &[1, 1]);
    let words = ["runs on 1 device", "arguments for 2 were given"];
    assert_eq!(refused(sum(1).run_per_device(two), &words).len(), 2);

    let uneven = lists(&[0, 1, 2, 3], &[2, 1, 3, 2]);
    let words = ["takes 2 arguments", "1 was given on device 1"];
    assert_eq!(refused(sum(4).run_per_device(uneven), &words).len(), 8);

    let one = lists(&[0], &[8]);
    let words = ["runs on 4 devices", "arguments for 1 were given"];
    assert_eq!(refused(sum(4).run_per_device(one), &words).len(), 8);

    // As they should be.
    let even = lists(&[0, 1, 2, 3], &[2; 4]);
    for outputs in sum(4).run_per_device(even).expect("runs") {
        assert_eq!(outputs[0].to_scalar::<f32>().expect("a number"), 1.);
    }
}

/// Devices that don't speak to each other are launched another way than those that do; what is
/// refused is the same.
#[test]
fn what_does_not_fit_is_refused_side_by_side_too() {
    let client = client(4);
    let program = Program::from_text(
        "module @apart attributes {mhlo.num_replicas = 4 : i32} {
           func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<4xf32>)
               -> tensor<4xf32> {
             %next = stablehlo.subtract %w, %g : tensor<4xf32>
             return %next : tensor<4xf32>
           }
         }",
    );
    let options = CompileOptions::new();
    let step = client.compile(&program.expect("text"), &options);
    let step = step.expect("compiles");
    assert!(!step.signature().has_collectives());
    let on_all = |value: f32| -> Vec<Buffer> {
        let devices = step.devices().iter();
        devices.map(|device| vector(device, &[value; 4])).collect()
    };
    let g = on_all(1.);

    // Each device's list in turn is of another one.
    for position in 0..4 {
        let mut w = on_all(3.);
        w[position] = vector(&step.devices()[(position + 1) % 4], &[3.; 4]);
        let words = [&*format!("on device {position}"), "wanted it on"];
        let given = refused(step.run_per_device(w.into_iter().zip(&g)), &words);
        assert_eq!(given.len(), 4, "device {position}");
    }
    // One is lent and the others are given, or the other way round; what is donated, what isn't.
    for (position, argument) in (0..4).flat_map(|at| [(at, 0), (at, 1)]) {
        let (lent, others) = (on_all(3.), on_all(1.));
        let pairs = lent.iter().zip(&others).enumerate();
        let lists = pairs.map(|(at, (lent, other))| -> [Argument<'_>; 2] {
            let give = || vector(&step.devices()[at], &[3.; 4]);
            match (at == position, argument) {
                (true, 0) => [lent.into(), other.into()],
                (true, _) => [give().into(), lent.into()],
                (false, _) => [give().into(), give().into()],
            }
        });
        let words = ["`apart`", "give or lend it on all devices"];
        let given = refused(step.run_per_device(lists), &words);
        assert_eq!(given.len(), 6 + argument, "device {position}");
        assert_eq!(values(&lent[position]), [3.; 4]);
    }
    // One that is lent where the program donates has no values: its copy would end the process.
    for position in 0..4 {
        let mut w = on_all(3.);
        w[position] = failing(&client, &step.devices()[position]);
        let words = [
            &*format!("on device {position}"),
            "values failed to come",
            "Out of memory",
        ];
        let given = refused(step.run_per_device(w.iter().zip(&g)), &words);
        assert!(given.is_empty(), "device {position}");
    }

    // Lent or given as it should be.
    let kept = on_all(3.);
    let lent = single(step.run_per_device(kept.iter().zip(&g)).expect("runs"));
    let given = single(
        step.run_per_device(on_all(4.).into_iter().zip(&g))
            .expect("runs"),
    );
    for ((kept, lent), given) in kept.iter().zip(&lent).zip(&given) {
        assert_eq!(values(kept), [3.; 4]);
        assert_eq!(values(lent), [2.; 4]);
        assert_eq!(values(given), [3.; 4]);
    }
}

// Arguments without values: their own run failed.

#[test]
fn a_failed_argument_on_any_device_is_refused_before_the_launch() {
    for name in BOTH_WORLDS {
        let ready = ready(name);
        for position in 0..4 {
            let device = device(&ready.client, position);
            let words = ["values failed to come", "Out of memory"];
            let bad = failing(&ready.client, &device);
            let back = ready.bad_w(position, bad, &words);
            back.wait().expect_err("it failed before");
            if name == "sgd_replicas_4" {
                ready.bad_g(position, failing(&ready.client, &device), &words);
            }
        }
    }
}

#[test]
fn an_argument_that_fails_while_the_launch_waits_for_it_is_refused() {
    // Its input takes long, so it is pending when the launch is asked for.
    let ready = ready("sgd_replicas_4");
    let device = device(&ready.client, 2);
    let options = CompileOptions::new().device(&device);
    let compile = |text: &str| {
        let program = Program::from_text(text).expect("text");
        ready.client.compile(&program, &options).expect("compiles")
    };
    let slow = compile(SLOW);
    let fails = compile(FAILS_LATER);
    let first = compile(&format!(
        "func.func @main(%x: tensor<{SLOW_LENGTH}xf32>) -> tensor<f32> {{
           %one = stablehlo.slice %x [0:1] : (tensor<{SLOW_LENGTH}xf32>) -> tensor<1xf32>
           %number = stablehlo.reshape %one : (tensor<1xf32>) -> tensor<f32>
           return %number : tensor<f32>
         }}"
    ));
    until_pending(|rounds| {
        let x = vector(&device, &[1.; SLOW_LENGTH]);
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let late = slow.run((x, n)).expect("runs").into_single().expect("one");
        let late = first.run(late).expect("runs").into_single().expect("one");
        // Lent: 0.81 waits for pending inputs inside a call that donates.
        let w = vector(&device, &[1.; 4]);
        let bad = fails.run((&w, late)).expect("fails later");
        let bad = bad.into_single().expect("one");
        let pending = !bad.is_ready().expect("known");
        ready.bad_w(2, bad, &["values failed to come", "Out of memory"]);
        pending
    });
}

/// Fails on both devices when it runs: no plugin has a maximum of complex numbers over
/// devices, and the compilers don't notice.
const FAILS_TOGETHER: &str = r#"
module @fails_together attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true} loc("x")) -> tensor<4xf32> {
    %z = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %most = "stablehlo.all_reduce"(%z) ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %ab = stablehlo.maximum %a, %b : tensor<complex<f32>>
      stablehlo.return %ab : tensor<complex<f32>>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %y = stablehlo.real %most : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}"#;

#[test]
fn a_launch_that_fails_on_its_devices_is_reported_by_its_outputs() {
    let client = client(2);
    let fails = compiled_text(&client, FAILS_TOGETHER);
    let sums = compiled(&client, "all_reduce_replicas_2");
    let lesson = lesson("all_reduce_replicas_2");
    let rows = on_all(&sums, &lesson, 0);
    for _ in 0..20 {
        let x: Vec<Buffer> = (0..2)
            .map(|i| vector(&device(&client, i), &[1.; 4]))
            .collect();
        let failed = single(fails.run_per_device(x).expect("the failure comes later"));
        // The next launch, which waits for that one, is none the worse.
        let good = sums.run_per_device(&rows).expect("runs");
        for failed in &failed {
            let cause = "Max reductions not supported for complex types";
            let error = failed.wait().expect_err("failed");
            assert!(error.message().contains(cause), "{error}");
            let error = failed.to_host::<f32>().expect_err("failed");
            assert!(error.message().contains(cause), "{error}");
            // Into a launch of one device it goes; into one of several it does not.
        }
        let given = refused(
            sums.run_per_device(failed),
            &[
                "argument 0",
                "on device 0",
                "values failed to come",
                "Max reductions",
            ],
        );
        assert_eq!(given.len(), 2);
        for (position, outputs) in good.iter().enumerate() {
            assert_eq!(values(&outputs[0]), lesson.results[0].f32(position));
        }
    }
}

#[test]
fn a_launch_without_collectives_may_fail_on_all_its_devices() {
    let client = client(4);
    let mark = "module @fails_later";
    assert!(FAILS_LATER.contains(mark));
    let counts = "attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32}";
    let fails = compiled_text(
        &client,
        &FAILS_LATER.replace(mark, &format!("{mark} {counts}")),
    );
    assert!(!fails.signature().has_collectives());
    let devices = client.devices();
    let x: Vec<Buffer> = devices
        .iter()
        .map(|device| Buffer::scalar(device, 1f32).expect("a number"))
        .collect();
    for _ in 0..10 {
        let w: Vec<Buffer> = devices
            .iter()
            .map(|device| vector(device, &[1.; 4]))
            .collect();
        let outputs = fails
            .run_per_device(w.into_iter().zip(&x))
            .expect("fails later");
        for output in single(outputs) {
            let error = output.wait().expect_err("failed");
            assert!(error.message().contains("Out of memory"), "{error}");
        }
    }
    for x in &x {
        assert_eq!(x.to_scalar::<f32>().expect("a number"), 1.);
    }
}

#[test]
fn a_program_without_arguments_runs_on_all_devices() {
    let client = client(4);
    let executable = compiled_text(
        &client,
        r#"
        module @numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
          func.func @main() -> (tensor<f32>, tensor<f32>) {
            %id = stablehlo.replica_id : tensor<ui32>
            %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
            %sum = "stablehlo.all_reduce"(%number) ({
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %ab = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %ab : tensor<f32>
            }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<f32>) -> tensor<f32>
            return %number, %sum : tensor<f32>, tensor<f32>
          }
        }"#,
    );
    for _ in 0..20 {
        let outputs = executable.run_per_device([(); 4]).expect("runs");
        for (position, outputs) in outputs.into_iter().enumerate() {
            let [number, sum] = outputs.into_array().expect("two");
            assert_eq!(
                number.to_scalar::<f32>().expect("a number"),
                position as f32
            );
            assert_eq!(sum.to_scalar::<f32>().expect("a number"), 6.);
        }
    }
    let outputs = executable.run_per_device([(); 3]);
    assert!(refused(outputs, &["runs on 4 devices", "3 were given"]).is_empty());
    let x = vector(&device(&client, 0), &[1.]);
    let lists = [vec![x], vec![], vec![], vec![]];
    let words = ["takes 0 arguments", "1 was given", "on device 0"];
    assert_eq!(refused(executable.run_per_device(lists), &words).len(), 1);
}

// Many launches that nobody awaits, and many threads.

/// Runs both programs over and over without awaiting anything, and checks the sum.
fn many_launches(launches: usize, with_single_device_runs: bool) {
    for name in BOTH_WORLDS {
        let client = client(4);
        let executable = compiled(&client, name);
        let lesson = lesson(name);
        let others: Vec<Executable> = client
            .devices()
            .iter()
            .map(|device| {
                let options = CompileOptions::new().device(device);
                client
                    .compile(&cpu::program("counter"), &options)
                    .expect("compiles")
            })
            .collect();
        let mut counts: Vec<Buffer> = client
            .devices()
            .iter()
            .map(|device| Buffer::scalar(device, 0f32).expect("a number"))
            .collect();
        let g = on_all(&executable, &lesson, 1);
        let mut w = on_all(&executable, &lesson, 0);
        for _ in 0..launches {
            w = step(&executable, w, &g);
            if with_single_device_runs {
                let runs = counts.into_iter().zip(&others);
                counts = runs
                    .map(|(count, other)| {
                        other.run(count).expect("runs").into_single().expect("one")
                    })
                    .collect();
            }
        }
        // Every launch takes an eighth of the sum of the gradients: 7, 8, 9, 10.
        let n = launches as f32;
        let wanted = [1. - n * 0.875, 2. - n, 3. - n * 1.125, 4. - n * 1.25];
        for w in &w {
            assert_eq!(values(w), wanted, "{name}");
        }
        let counted = if with_single_device_runs { n } else { 0. };
        for count in &counts {
            assert_eq!(
                count.to_scalar::<f32>().expect("a number"),
                counted,
                "{name}"
            );
        }
    }
}

#[test]
fn a_thousand_launches_may_go_unawaited() {
    let test = "a_thousand_launches_may_go_unawaited";
    in_child(test, || many_launches(1000, false)).check_well();
}

#[test]
fn launches_that_have_nothing_to_wait_for_may_go_unawaited() {
    // All arguments are there from the start, so nothing else holds the launches back.
    let test = "launches_that_have_nothing_to_wait_for_may_go_unawaited";
    in_child(test, || {
        let client = client(4);
        for name in BOTH_WORLDS {
            let executable = compiled(&client, name);
            let lesson = lesson(name);
            let w = on_all(&executable, &lesson, 0);
            let g = on_all(&executable, &lesson, 1);
            let mut kept = Vec::new();
            for round in 0..1000 {
                let outputs = single(executable.run_per_device(lent(&[&w, &g])).expect("runs"));
                if round % 100 == 0 {
                    kept.push(outputs);
                }
            }
            for outputs in kept {
                for (position, output) in outputs.iter().enumerate() {
                    assert_eq!(values(output), lesson.results[0].f32(position), "{name}");
                }
            }
        }
    })
    .check_well();
}

#[test]
fn launches_on_all_devices_and_on_one_may_go_unawaited_side_by_side() {
    let test = "launches_on_all_devices_and_on_one_may_go_unawaited_side_by_side";
    in_child(test, || many_launches(1000, true)).check_well();
}

#[test]
fn two_threads_may_launch_different_programs_on_the_same_devices() {
    let test = "two_threads_may_launch_different_programs_on_the_same_devices";
    in_child(test, || {
        let client = client(2);
        thread::scope(|scope| {
            for name in ["all_reduce_replicas_2", "two_devices"] {
                let client = &client;
                scope.spawn(move || {
                    let executable = compiled(client, name);
                    let lesson = lesson(name);
                    let rows = on_all(&executable, &lesson, 0);
                    for round in 0..200 {
                        let outputs = executable.run_per_device(&rows).expect("runs");
                        // Now and then one is left pending.
                        if round % 3 == 0 {
                            continue;
                        }
                        for (position, outputs) in outputs.iter().enumerate() {
                            let wanted = lesson.results[0].f32(position);
                            assert_eq!(values(&outputs[0]), wanted, "{name}, round {round}");
                        }
                    }
                });
            }
        });
    })
    .check_well();
}

#[test]
fn two_clients_may_launch_at_the_same_time() {
    // Left alone, launches of 0.81 are told apart by nothing but the program, in all of
    // the process.
    let test = "two_clients_may_launch_at_the_same_time";
    in_child(test, || {
        thread::scope(|scope| {
            for start in [0., 1000.] {
                scope.spawn(move || {
                    let client = client(4);
                    for name in BOTH_WORLDS {
                        let executable = compiled(&client, name);
                        let g = on_all(&executable, &lesson(name), 1);
                        let devices = client.devices();
                        let mut w: Vec<Buffer> = devices
                            .iter()
                            .map(|device| vector(device, &[start; 4]))
                            .collect();
                        for _ in 0..400 {
                            w = step(&executable, w, &g);
                        }
                        let wanted = [start - 350., start - 400., start - 450., start - 500.];
                        for w in &w {
                            assert_eq!(values(w), wanted, "{name}");
                        }
                    }
                });
            }
        });
    })
    .check_well();
}

/// Each device adds `x` (f32[4096]) to itself `n` times, its own number, and then the
/// sums are summed over all devices, as in partitioned programs: over a channel.
const SLOW_SUM: &str = r#"
module @slow_sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func @main(%x: tensor<4096xf32>, %n: tensor<i32>) -> tensor<4096xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %done:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<4096xf32>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %more_sum = stablehlo.add %sum, %x : tensor<4096xf32>
      stablehlo.return %next, %more_sum : tensor<i32>, tensor<4096xf32>
    }
    %all = "stablehlo.all_reduce"(%done#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }) : (tensor<4096xf32>) -> tensor<4096xf32>
    return %all : tensor<4096xf32>
  }
}"#;

#[test]
fn a_client_may_be_dropped_while_another_launches() {
    // A client that goes away waits for its launch; the other's must not meet it.
    let test = "a_client_may_be_dropped_while_another_launches";
    in_child(test, || {
        thread::scope(|scope| {
            for thread in 0..2 {
                scope.spawn(move || {
                    for round in 0..8 {
                        let client = client(4);
                        let executable = compiled_text(&client, SLOW_SUM);
                        let devices = client.devices();
                        let x: Vec<Buffer> = devices
                            .iter()
                            .map(|device| vector(device, &[1.; SLOW_LENGTH]))
                            .collect();
                        let goes_away = round % 2 == thread;
                        let n: Vec<Buffer> = (0..4)
                            .map(|i| if goes_away { 20_000 } else { 100 * i })
                            .zip(&devices)
                            .map(|(n, device)| Buffer::scalar(device, n).expect("a number"))
                            .collect();
                        let launch = || {
                            let lists = x.iter().zip(&n);
                            single(executable.run_per_device(lists).expect("runs"))
                        };
                        if goes_away {
                            launch();
                            continue;
                        }
                        for _ in 0..3 {
                            // 1 + 0, 1 + 100, 1 + 200, 1 + 300
                            for sum in launch() {
                                assert_eq!(values(&sum), [604.; SLOW_LENGTH]);
                            }
                        }
                    }
                });
            }
        });
    })
    .check_well();
}

#[test]
fn many_threads_may_launch_one_program_on_all_devices() {
    let test = "many_threads_may_launch_one_program_on_all_devices";
    in_child(test, || {
        let client = client(4);
        let executable = compiled(&client, "sgd_replicas_4");
        let lesson = lesson("sgd_replicas_4");
        let g = on_all(&executable, &lesson, 1);
        thread::scope(|scope| {
            for start in 0..6 {
                let (executable, client, g) = (&executable, &client, &g);
                scope.spawn(move || {
                    let start = start as f32 * 1000.;
                    let devices = client.devices();
                    let mut w: Vec<Buffer> = devices
                        .iter()
                        .map(|device| vector(device, &[start; 4]))
                        .collect();
                    for _ in 0..80 {
                        w = step(executable, w, g);
                    }
                    let wanted = [start - 70., start - 80., start - 90., start - 100.];
                    for w in &w {
                        assert_eq!(values(w), wanted);
                    }
                });
            }
        });
    })
    .check_well();
}

#[test]
fn a_client_may_be_dropped_with_a_launch_under_way() {
    let test = "a_client_may_be_dropped_with_a_launch_under_way";
    in_child(test, || {
        for round in 0..40 {
            let client = client(4);
            let executable = compiled(&client, "sgd_replicas_4");
            let lesson = lesson("sgd_replicas_4");
            let g = on_all(&executable, &lesson, 1);
            let w = step(&executable, on_all(&executable, &lesson, 0), &g);
            match round % 3 {
                0 => drop((client, executable, g, w)),
                1 => drop((w, g, executable, client)),
                _ => {
                    drop((g, executable, client));
                    assert_eq!(values(&w[3]), lesson.results[0].f32(3));
                }
            }
        }
    })
    .check_well();
}

#[test]
fn a_failed_launch_is_no_reason_for_the_next_to_wait_or_to_fail() {
    let client = client(2);
    let fails = compiled_text(&client, FAILS_TOGETHER);
    for _ in 0..20 {
        let x: Vec<Buffer> = (0..2)
            .map(|i| vector(&device(&client, i), &[1.; 4]))
            .collect();
        fails.run_per_device(x).expect("the failure comes later");
    }
    let x: Vec<Buffer> = (0..2)
        .map(|i| vector(&device(&client, i), &[1.; 4]))
        .collect();
    let outputs = single(fails.run_per_device(x).expect("the failure comes later"));
    let error = outputs[1].wait().expect_err("failed");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
}

/// On each device a small output and one that no memory holds: a run of it fails after its
/// call has returned, and both outputs carry that.
const LATE_FAILURE: &str = r#"
    module @late attributes {mhlo.num_replicas = 2 : i32} {
      func.func @main(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<70368744177664xf32>) {
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %many = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
        %next = stablehlo.add %w, %w : tensor<4xf32>
        return %next, %many : tensor<4xf32>, tensor<70368744177664xf32>
      }
    }"#;

/// XLA copies what is lent where the program donates, and its copy of a buffer without
/// values ends the process.
#[test]
fn a_failed_buffer_is_not_lent_where_the_program_donates() {
    let name = "a_failed_buffer_is_not_lent_where_the_program_donates";
    let ended = in_child(name, || {
        let client = client(2);
        let late = compiled_text(&client, LATE_FAILURE);
        let add = compiled_text(
            &client,
            "func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                             %v: tensor<4xf32>) -> tensor<4xf32> {
               %sum = stablehlo.add %w, %v : tensor<4xf32>
               return %sum : tensor<4xf32>
             }",
        );
        let inputs = [0, 1].map(|index| vector(&device(&client, index), &[1., 2., 3., 4.]));
        let mut outputs = late.run_per_device(inputs).expect("a launch").into_iter();
        let failed = outputs.next().expect("a device").into_vec().swap_remove(0);
        let good = vector(&device(&client, 0), &[1., 1., 1., 1.]);
        let back = refused(add.run((&failed, &good)), &["argument 0", "failed to come"]);
        assert!(back.is_empty(), "nothing was given");
        // Given, it is the plugin's to carry the failure on.
        let carried = add.run((failed, &good)).expect("a launch").into_single();
        assert!(carried.expect("an output").to_host::<f32>().is_err());
        assert_eq!(values(&good), [1.; 4]);
    });
    ended.check_well();
}

/// However a program is written: with a single replica the compilers check no groups.
#[test]
fn collectives_of_more_devices_than_run_are_refused() {
    let client = client(4);
    let body = |operation: &str| {
        format!(
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
               %y = {operation} : (tensor<f32>) -> tensor<f32>
               return %y : tensor<f32>
             }}"
        )
    };
    let sum = r#"({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32> })"#;
    let programs = [
        // As it is usually written, found before compiling.
        body(&format!(
            "\"stablehlo.all_reduce\"(%x) {sum} \
             {{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}"
        )),
        // Other spellings, found in the compiled program.
        body(&format!(
            "\"stablehlo.all_reduce\"(%x) {sum} \
             {{replica_groups=dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}"
        )),
        body(
            "\"stablehlo.collective_permute\"(%x) \
             {source_target_pairs = dense<[[0, 3], [3, 0]]> : tensor<2x2xi64>}",
        ),
    ];
    for text in programs {
        let program = Program::from_text(text.as_str()).expect("text");
        let error = client
            .compile(&program, &CompileOptions::new())
            .expect_err("refused");
        assert!(error.message().contains("speak to 4 devices"), "{error}");
        let right = CompileOptions::new().replicas(4);
        client
            .compile(&program, &right)
            .expect("on four it is right");
    }
}

#[test]
fn programs_that_wait_for_a_host_are_refused() {
    let client = client(1);
    let program = Program::from_text(
        "func.func @main(%token: !stablehlo.token) -> !stablehlo.token {
           %got:2 = \"stablehlo.infeed\"(%token) {infeed_config = \"\"}
             : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
           return %got#1 : !stablehlo.token
         }",
    )
    .expect("text");
    let error = client
        .compile(&program, &CompileOptions::new())
        .expect_err("refused");
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("infeed"), "{error}");
}
