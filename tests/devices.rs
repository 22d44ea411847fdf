//! Programs compiled for a list of devices, on a real CPU plugin.

mod cpu;

use cpu::{client, compiled_text, device, lesson, values, vector};
use xla::{
    Buffer, Client, Code, CompileOptions, Device, DeviceAssignment, Error, Executable, Program,
    Result,
};

const DOUBLE: &str = "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  %r = stablehlo.replica_id : tensor<ui32>
  return %y, %r : tensor<2xf32>, tensor<ui32>
}";

fn compile(client: &Client, text: &str, options: CompileOptions) -> Result<Executable> {
    client.compile(&Program::from_text(text).expect("text"), &options)
}

fn exported(client: &Client, name: &str, options: CompileOptions) -> Result<Executable> {
    client.compile(&cpu::program(name), &options)
}

/// Checks that the plugin was not asked.
#[track_caller]
fn refused<T>(outcome: Result<T>, words: &[&str]) -> Error {
    let Err(error) = outcome else {
        panic!("not refused; wanted a message with {words:?}")
    };
    assert_eq!(error.function(), None, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
    error
}

fn reversed(client: &Client) -> Vec<Device> {
    let mut devices = client.devices();
    devices.reverse();
    devices
}

#[test]
fn a_program_that_says_nothing_has_a_replica_on_each() {
    let client = client(4);
    let all = client.devices();
    for devices in [
        reversed(&client),
        vec![all[2].clone(), all[0].clone()],
        vec![all[3].clone()],
    ] {
        let options = CompileOptions::new().devices(&devices);
        let double = compile(&client, DOUBLE, options).expect("a program");
        assert_eq!(double.devices(), devices);
        let signature = double.signature();
        assert_eq!(
            (signature.replicas(), signature.partitions()),
            (devices.len(), 1)
        );
        let rows = devices
            .iter()
            .map(|device| vector(device, &[device.id() as f32, 0.5]));
        let outputs = double.run_per_device(rows).expect("runs");
        for (i, (output, device)) in outputs.iter().zip(&devices).enumerate() {
            assert_eq!(output[0].device(), *device);
            assert_eq!(values(&output[0]), [2. * device.id() as f32, 1.]);
            assert_eq!(output[1].to_scalar::<u32>().expect("u32") as usize, i);
        }
    }
}

#[test]
fn all_devices_are_those_of_the_client_that_compiles() {
    let options = CompileOptions::new().all_devices();
    for count in [1, 3] {
        let client = client(count);
        let double = compile(&client, DOUBLE, options.clone()).expect("a program");
        assert_eq!(double.devices(), client.all_devices());
        assert_eq!(double.signature().replicas(), count);
    }
}

#[test]
fn partitions_are_counted_within_replicas() {
    let client = client(4);
    let devices = reversed(&client);
    // Left open, there are as many replicas as fit.
    let options = CompileOptions::new().partitions(2).devices(&devices);
    let double = compile(&client, DOUBLE, options).expect("a program");
    let signature = double.signature();
    assert_eq!((signature.replicas(), signature.partitions()), (2, 2));
    assert_eq!(double.devices(), devices);
    let rows = devices.iter().map(|device| vector(device, &[1., 2.]));
    let outputs = double.run_per_device(rows).expect("runs");
    for (i, output) in outputs.iter().enumerate() {
        assert_eq!(output[1].to_scalar::<u32>().expect("u32") as usize, i / 2);
    }
}

#[test]
fn exported_programs_run_on_the_devices_that_are_listed() {
    let client = client(4);
    for (name, devices) in [
        ("two_devices", vec![device(&client, 3), device(&client, 1)]),
        (
            "all_reduce_replicas_2",
            vec![device(&client, 2), device(&client, 0)],
        ),
        ("named_sharding_4", reversed(&client)),
        ("sgd_gspmd_4", reversed(&client)),
    ] {
        let options = CompileOptions::new().devices(&devices);
        let executable = exported(&client, name, options).expect("a program");
        assert_eq!(executable.devices(), devices, "{name}");
        let lesson = lesson(name);
        let arguments = devices.iter().enumerate().map(|(position, device)| {
            let arguments = lesson.arguments.iter();
            arguments
                .map(|argument| argument.buffer(position, device))
                .collect::<Vec<_>>()
        });
        let outputs = executable.run_per_device(arguments).expect("runs");
        for (position, output) in outputs.iter().enumerate() {
            let wanted = lesson.results[0].f32(position);
            assert_eq!(values(&output[0]), wanted, "{name} on device {position}");
        }
    }
    let options = CompileOptions::new().all_devices();
    let executable = exported(&client, "pmap_4", options).expect("a program");
    assert_eq!(executable.devices(), client.devices());
}

#[test]
fn the_number_of_devices_has_to_fit() {
    let client = client(4);
    let two = &client.devices()[..2];
    let three = &client.devices()[..3];
    for (name, words) in [
        (
            "named_sharding_4",
            [
                "2 devices listed",
                "run on 4",
                "1 replica x 4 partitions",
                "list 4",
            ],
        ),
        (
            "all_reduce_replicas_4",
            [
                "2 devices listed",
                "run on 4",
                "4 replicas x 1 partition",
                "list 4",
            ],
        ),
    ] {
        let outcome = exported(&client, name, CompileOptions::new().devices(two));
        assert_eq!(refused(outcome, &words).code(), Code::InvalidArgument);
    }
    let outcome = exported(&client, "two_devices", CompileOptions::new().all_devices());
    refused(outcome, &["4 devices listed", "run on 2"]);
    for options in [
        CompileOptions::new().devices(three).partitions(2),
        CompileOptions::new().devices(three).replicas(2),
        CompileOptions::new().devices(&three[..1]).partitions(2),
        CompileOptions::new().device(&three[0]).replicas(2),
    ] {
        let outcome = compile(&client, DOUBLE, options);
        refused(outcome, &["listed", "run on 2"]);
    }
    // The options disagree with the program.
    let options = CompileOptions::new().devices(two).replicas(2);
    refused(
        exported(&client, "two_devices", options),
        &["2 replicas", "states 1"],
    );
}

#[test]
fn lists_that_are_none_are_refused() {
    let here = client(2);
    let elsewhere = client(2);
    let [a, b] = [device(&here, 0), device(&here, 1)];
    let foreign = device(&elsewhere, 1);
    type Case<'a> = (&'a [Device], &'a [&'a str]);
    let cases: [Case; 4] = [
        (&[], &["no devices are listed"]),
        (
            &[b.clone(), a.clone(), b.clone()],
            &["devices 0 and 2", "both"],
        ),
        (
            &[a.clone(), foreign.clone()],
            &["device 1", "another client"],
        ),
        (
            std::slice::from_ref(&foreign),
            &["device 0", "another client"],
        ),
    ];
    for (devices, words) in cases {
        let outcome = compile(&here, DOUBLE, CompileOptions::new().devices(devices));
        assert_eq!(refused(outcome, words).code(), Code::InvalidArgument);
    }
    let outcome = compile(&here, DOUBLE, CompileOptions::new().device(&foreign));
    refused(outcome, &["another client"]);
    let assignment = DeviceAssignment::new(2, 1, &[0, 1]).expect("one");
    for options in [
        CompileOptions::new().devices(&[a.clone(), b.clone()]),
        CompileOptions::new().all_devices(),
        CompileOptions::new().device(&a),
    ] {
        let options = options.device_assignment(assignment.clone());
        refused(
            compile(&here, DOUBLE, options),
            &["both `devices` and `device_assignment`"],
        );
    }
}

#[test]
fn the_last_list_counts() {
    let client = client(2);
    let options = CompileOptions::new().all_devices();
    let options = options.device(&device(&client, 1));
    let double = compile(&client, DOUBLE, options).expect("a program");
    assert_eq!(double.devices(), [device(&client, 1)]);
}

#[test]
fn assignments_of_devices() {
    let here = client(4);
    let devices = reversed(&here);
    let assignment = DeviceAssignment::from_devices(2, 2, &devices).expect("fits");
    assert_eq!((assignment.replicas(), assignment.partitions()), (2, 2));
    assert_eq!(assignment.ids(), [3, 2, 1, 0]);
    let options = CompileOptions::new().device_assignment(assignment);
    let double = compile(&here, DOUBLE, options).expect("a program");
    assert_eq!(double.devices(), devices);

    let elsewhere = client(4);
    let [a, b] = [device(&here, 0), device(&here, 1)];
    let of = DeviceAssignment::from_devices;
    refused(of(1, 1, &[]), &["1 replica x 1 partition", "0 device ids"]);
    refused(of(0, 1, std::slice::from_ref(&a)), &["0 replicas"]);
    refused(
        of(2, 2, &[a.clone(), b.clone()]),
        &["2 replicas x 2", "2 device ids"],
    );
    refused(
        of(2, 1, &[a.clone(), a.clone()]),
        &["devices 0 and 1", "both"],
    );
    let foreign = device(&elsewhere, 1);
    refused(of(2, 1, &[a, foreign]), &["device 1", "another client"]);
}

/// Options outlive their client's other handles, and say of another one what is wrong.
#[test]
fn options_hold_the_client_of_their_devices() {
    let options = {
        let client = client(2);
        CompileOptions::new().devices(&client.devices())
    };
    let other = client(2);
    refused(compile(&other, DOUBLE, options), &["another client"]);
    let same = compiled_text(&other, "func.func @main() { return }");
    assert_eq!(same.devices().len(), 1);
}

#[test]
fn what_is_exported_for_one_device_runs_on_many() {
    // It states one replica and one partition, as all that JAX exports, and has no collectives.
    let client = client(4);
    let devices = client.devices();
    let step = exported(
        &client,
        "sgd_step",
        CompileOptions::new().devices(&devices[1..]),
    )
    .expect("compiles");
    assert_eq!(step.devices(), &devices[1..]);
    assert_eq!(step.signature().replicas(), 3);
    let arguments: Vec<(Buffer, Buffer)> = step
        .devices()
        .iter()
        .enumerate()
        .map(|(position, device)| {
            let w = vector(device, &[position as f32, 1., 2., 3.]);
            (w, vector(device, &[8., -8., 0., 16.]))
        })
        .collect();
    let outputs = step.run_per_device(arguments).expect("runs");
    for (position, outputs) in outputs.iter().enumerate() {
        // w - g / 8
        assert_eq!(values(&outputs[0]), [position as f32 - 1., 2., 2., 1.]);
    }
    // On its own it is for one.
    let alone = exported(&client, "sgd_step", CompileOptions::new()).expect("compiles");
    assert_eq!(alone.devices().len(), 1);
    // Partitions would need shardings.
    let options = CompileOptions::new().partitions(2);
    let words = ["2 partitions", "states 1"];
    refused(exported(&client, "sgd_step", options), &words);
}

#[test]
fn what_speaks_to_other_devices_keeps_its_one() {
    let client = client(2);
    for operation in [
        r#"%y = "stablehlo.all_reduce"(%x) ({
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %ab = stablehlo.add %a, %b : tensor<f32>
             stablehlo.return %ab : tensor<f32>
           }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<f32>) -> tensor<f32>"#,
        "%id = stablehlo.replica_id : tensor<ui32>
         %y = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>",
    ] {
        let text = format!(
            "module @alone attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
               func.func @main(%x: tensor<f32>) -> tensor<f32> {{
                 {operation}
                 return %y : tensor<f32>
               }}
             }}"
        );
        let program = Program::from_text(text).expect("text");
        let outcome = client.compile(&program, &CompileOptions::new().replicas(2));
        refused(outcome, &["2 replicas", "states 1"]);
    }
}
