//! Options: of clients, of the compiler, and in `XLA_FLAGS`. What would end the process
//! inside a plugin is refused before it is asked.

mod cpu;

use std::fs;
use std::path::{Path, PathBuf};

use cpu::{
    api_minor, client, compiled, compiled_text, device, in_child, lesson, program, values, vector,
};
use xla::{
    Buffer, Client, ClientOptions, Code, CompileOptions, Device, DeviceAssignment, Error,
    Executable, OptionValue, Plugin, Program, Value,
};

fn made(options: ClientOptions) -> Result<Client, Error> {
    Plugin::cpu().expect("a CPU plugin").client_with(&options)
}

fn compile(client: &Client, name: &str, options: CompileOptions) -> Result<Executable, Error> {
    client.compile(&program(name), &options)
}

#[track_caller]
fn refused<T>(outcome: Result<T, impl Into<Error>>, parts: &[&str]) -> Error {
    let error: Error = match outcome {
        Err(error) => error.into(),
        Ok(_) => panic!("this was not refused: {parts:?}"),
    };
    for part in parts {
        assert!(error.message().contains(part), "no `{part}` in: {error}");
    }
    error
}

/// Refused by this crate, before the plugin was asked.
#[track_caller]
fn refused_before<T>(outcome: Result<T, impl Into<Error>>, parts: &[&str]) -> Error {
    let error = refused(outcome, parts);
    assert_eq!(error.function(), None, "{error}");
    error
}

/// Two and two is four on this device.
#[track_caller]
fn adds_on(add: &Executable, device: &Device) {
    assert_eq!(add.devices(), std::slice::from_ref(device));
    let x = vector(device, &[1., 2., 3., 4.]);
    let sum = add.run((&x, &x)).expect("a run");
    assert_eq!(sum[0].device(), *device);
    assert_eq!(values(&sum[0]), [2., 4., 6., 8.]);
}

#[test]
fn clients_have_as_many_devices_as_they_are_told() {
    for count in [1, 3, 8] {
        let client = client(count);
        assert_eq!(client.device_count(), count);
        let last = device(&client, count - 1);
        let add = compile(&client, "add", CompileOptions::new().device(&last));
        adds_on(&add.expect("a program"), &last);
    }
    let client = made(ClientOptions::new()).expect("a client");
    assert_eq!(client.device_count(), 4);
    // What is said last counts.
    let options = ClientOptions::new().option("cpu_device_count", 2);
    let client = made(options.cpu_device_count(3)).expect("a client");
    assert_eq!(client.device_count(), 3);
}

#[test]
fn absurd_numbers_of_devices_are_refused() {
    let count = "cpu_device_count";
    let options = || ClientOptions::new();
    for options in [
        options().cpu_device_count(0),
        options().option(count, -1),
        options().option(count, i64::MIN),
        options().option(count, "3"),
        options().option(count, true),
        options().option(count, 3f32),
        options().option(count, vec![3i64]),
        // The plugins cut these to 32 bits, or end the process.
        options().cpu_device_count(1 << 31),
        options().cpu_device_count((1 << 32) + 2),
        options().cpu_device_count(usize::MAX),
    ] {
        let error = refused_before(made(options), &[count, "wanted an integer"]);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
}

#[test]
fn options_that_the_plugin_does_not_know() {
    let minor = api_minor(&client(1));
    for value in [
        Value::from("x"),
        Value::from(3),
        Value::from(0.5f32),
        Value::from(true),
        Value::from(vec![1i64, 2]),
    ] {
        let options = ClientOptions::new().cpu_device_count(1);
        let outcome = made(options.option("no_such_option", value));
        if minor < 115 {
            // It looks for those that it knows, and at no others.
            assert_eq!(outcome.expect("a client").device_count(), 1);
        } else {
            let error = refused(outcome, &["no_such_option"]);
            assert_eq!(error.code(), Code::InvalidArgument);
            assert_eq!(error.function(), Some("PJRT_Client_Create"));
        }
    }
    let asynchronous = |value: Value| {
        let options = ClientOptions::new().cpu_device_count(1);
        made(options.option("asynchronous", value))
    };
    for value in [true, false] {
        let client = asynchronous(value.into()).expect("a client");
        adds_on(&compiled(&client, "add"), &device(&client, 0));
    }
    let outcome = asynchronous(1.into());
    if minor < 115 {
        outcome.expect("a client");
    } else {
        let error = refused(outcome, &["asynchronous", "type"]);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
}

#[test]
fn devices_describe_themselves() {
    let client = client(3);
    assert_eq!(client.platform_name(), "cpu");
    assert_eq!(client.platform_version(), "cpu");
    assert_eq!(client.process_index(), 0);
    assert_eq!(client.all_devices(), client.devices());
    for (index, device) in client.devices().iter().enumerate() {
        let number = i32::try_from(index).expect("small");
        assert_eq!(device.id(), number);
        assert_eq!(device.local_hardware_id(), Some(number));
        assert_eq!(device.process_index(), 0);
        assert!(device.is_addressable());
        assert_eq!(device.kind(), "cpu");
        assert!(device.attributes().is_empty());
        assert_eq!(device.attribute("coords"), None);
        assert_eq!(device.client(), client);
        let name = match api_minor(&client) {
            81 => format!("TFRT_CPU_{index}"),
            _ => format!("cpu:{index}"),
        };
        assert_eq!(format!("{device:?}"), name);
        assert_eq!(*device, client.device(index).expect("it"));
        assert_eq!(*device, client.device_by_id(number).expect("it"));

        let memories = device.memories();
        let kinds: Vec<&str> = memories.iter().map(|memory| memory.kind()).collect();
        assert_eq!(kinds, ["device", "pinned_host", "unpinned_host"]);
        assert_eq!(device.default_memory(), Some(memories[0].clone()));
        for memory in &memories {
            assert_eq!(memory.devices(), std::slice::from_ref(device));
        }
    }
    let ids: Vec<i32> = client.memories().iter().map(|memory| memory.id()).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6, 7, 8]);

    let error = refused_before(client.device(3), &["device 3", "has 3 (0 to 2)"]);
    assert_eq!(error.code(), Code::NotFound);
    for id in [3, -1, i32::MAX] {
        refused_before(client.device_by_id(id), &[&id.to_string(), "[0, 1, 2]"]);
    }
}

#[test]
fn figures_that_the_plugin_does_not_keep_are_an_error_that_says_so() {
    let client = client(1);
    let error = refused(device(&client, 0).memory_stats(), &["not supported"]);
    assert_eq!(error.code(), Code::Unimplemented);
    assert_eq!(error.function(), Some("PJRT_Device_MemoryStats"));
}

#[test]
fn clients_and_their_devices_are_their_own() {
    let (ours, theirs) = (client(1), client(1));
    assert_eq!(ours, ours.clone());
    assert_ne!(ours, theirs);
    assert_ne!(device(&ours, 0), device(&theirs, 0));
    assert_ne!(ours.memories()[0], theirs.memories()[0]);
    let buffer = vector(&device(&ours, 0), &[1.]);
    assert_eq!(buffer.client(), ours);
    assert_ne!(buffer.client(), theirs);
}

/// The client goes when the last of what it made does, whichever that is.
#[test]
fn anything_may_be_dropped_before_anything() {
    let only_a_device = device(&client(1), 0);
    let only_a_memory = only_a_device.memories().remove(1);
    let buffer = vector(&only_a_device, &[1., 2., 3., 4.]);
    drop(only_a_device);
    assert_eq!(values(&buffer), [1., 2., 3., 4.]);
    let pinned = Buffer::from_host(&only_a_memory, &[5f32], &[1]).expect("room");
    drop((buffer, only_a_memory));
    assert_eq!(values(&pinned), [5.]);
    let add = compiled(&pinned.client(), "add");
    drop(pinned);
    let device = add.devices()[0].clone();
    adds_on(&add, &device);
    let x = vector(&device, &[1., 2., 3., 4.]);
    let sum = add
        .run((&x, &x))
        .expect("a run")
        .into_single()
        .expect("one");
    drop((add, device, x));
    let read = sum.to_host_async::<f32>().expect("a read");
    let event = sum.ready().expect("an event");
    drop(sum);
    event.wait().expect("it is there");
    drop(event);
    assert_eq!(read.wait().expect("values"), [2., 4., 6., 8.]);
}

#[test]
fn counts_of_replicas_and_partitions_are_checked() {
    let client = client(2);
    let options = CompileOptions::new;
    for (options, parts) in [
        (options().replicas(0), &["replicas is 0"][..]),
        (options().partitions(0), &["partitions is 0"]),
        (
            options().replicas(3),
            &["3 devices", "client has 2", "cpu_device_count"],
        ),
        (options().partitions(3), &["3 devices", "client has 2"]),
        (
            options().replicas(2).partitions(2),
            &["4 devices", "2 replicas x 2 partitions", "client has 2"],
        ),
        (
            options().replicas(1 << 31),
            &["2147483648 replicas", "out of range"],
        ),
        (options().replicas(usize::MAX), &["out of range"]),
        (
            options().replicas(1 << 30).partitions(1 << 30),
            &["client has 2"],
        ),
    ] {
        // A program that states nothing itself.
        let program = Program::from_text(IDENTITY).expect("text");
        let error = refused_before(client.compile(&program, &options), parts);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
}

const IDENTITY: &str = "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>) {
    %id = stablehlo.replica_id : tensor<ui32>
    return %x, %id : tensor<4xf32>, tensor<ui32>
}";

#[test]
fn what_the_program_states_holds() {
    let client = client(4);
    let options = CompileOptions::new;
    for (name, options, parts) in [
        (
            "add",
            options().partitions(2),
            &["2 partitions", "states 1"][..],
        ),
        (
            "all_reduce_replicas_4",
            options().replicas(2),
            &["2 replicas", "states 4"],
        ),
        (
            "two_devices",
            options().partitions(4),
            &["4 partitions", "states 2"],
        ),
        (
            "two_devices",
            options().replicas(2),
            &["2 replicas", "states 1"],
        ),
    ] {
        let error = refused_before(compile(&client, name, options), parts);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    // Saying the same is fine, and so is saying nothing.
    for (name, options, counts) in [
        ("add", options().replicas(1).partitions(1), (1, 1)),
        ("all_reduce_replicas_4", options().replicas(4), (4, 1)),
        ("all_reduce_replicas_2", options(), (2, 1)),
        ("two_devices", options().partitions(2).shardy(true), (1, 2)),
        ("sgd_partitions_4", options(), (1, 4)),
        // HLO doesn't say it.
        ("sgd_step.hlo.pb", options().replicas(3), (3, 1)),
        ("sgd_step.hlo.pb", options(), (1, 1)),
    ] {
        let program = compile(&client, name, options).expect(name);
        let signature = program.signature();
        assert_eq!(
            (signature.replicas(), signature.partitions()),
            counts,
            "{name}"
        );
        assert_eq!(program.devices().len(), counts.0 * counts.1);
    }
    // More devices than there are, by the program's own word.
    let few = cpu::client(3);
    let outcome = compile(&few, "all_reduce_replicas_4", options());
    refused_before(outcome, &["4 devices", "client has 3"]);
}

/// Numbers that look right and are wrong: on one device, the sum over four is its own row.
#[test]
fn programs_are_not_run_on_fewer_devices_than_they_speak_to() {
    let client = client(4);
    let path = cpu::program_path("all_reduce_replicas_4.mlir");
    let text = fs::read_to_string(path).expect("a program");
    let silent = text.replace(", mhlo.num_replicas = 4 : i32", "");
    assert_ne!(silent, text);
    let silent = Program::from_text(silent).expect("text");
    let outcome = client.compile(&silent, &CompileOptions::new());
    let error = refused_before(outcome, &["4 devices", "to run on 1", "replicas"]);
    assert_eq!(error.code(), Code::InvalidArgument);
    refused_before(
        client.compile(&silent, &CompileOptions::new().replicas(2)),
        &["4 devices", "to run on 2"],
    );
    let program = client.compile(&silent, &CompileOptions::new().replicas(4));
    assert_eq!(program.expect("a program").devices().len(), 4);
}

#[test]
fn assignments_that_are_none_are_refused() {
    for (replicas, partitions, ids, parts) in [
        (0, 1, &[][..], &["0 replicas"][..]),
        (1, 0, &[], &["0 partitions"]),
        (2, 1, &[0], &["2 replicas x 1 partition", "1 device id"]),
        (1, 1, &[0, 1], &["1 replica x 1 partition", "2 device ids"]),
        (
            2,
            2,
            &[0, 1, 2],
            &["2 replicas x 2 partitions", "3 device ids"],
        ),
        (2, 1, &[3, 3], &["device id 3 twice"]),
        (usize::MAX, 2, &[0, 1], &["2 device ids"]),
    ] {
        let error = refused_before(DeviceAssignment::new(replicas, partitions, ids), parts);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    let assignment = DeviceAssignment::new(2, 1, &[3, 1]).expect("one");
    assert_eq!((assignment.replicas(), assignment.partitions()), (2, 1));
    assert_eq!(assignment.ids(), [3, 1]);
}

#[test]
fn assignments_have_to_fit_client_and_program() {
    let client = client(4);
    let with = |replicas, partitions, ids: &[i32]| {
        let assignment = DeviceAssignment::new(replicas, partitions, ids).expect("one");
        CompileOptions::new().device_assignment(assignment)
    };
    for id in [4, -1, i32::MAX] {
        let outcome = compile(&client, "all_reduce_replicas_2", with(2, 1, &[0, id]));
        let error = refused_before(outcome, &[&format!("device id {id}"), "[0, 1, 2, 3]"]);
        assert_eq!(error.code(), Code::NotFound);
    }
    for (name, options, parts) in [
        (
            "all_reduce_replicas_4",
            with(2, 1, &[0, 1]),
            ["2 replicas", "4"],
        ),
        (
            "all_reduce_replicas_2",
            with(1, 2, &[0, 1]),
            ["1 replica", "2"],
        ),
        ("two_devices", with(2, 1, &[0, 1]), ["2 replicas", "1"]),
        ("add", with(1, 2, &[0, 1]), ["2 partitions", "1"]),
        ("add", with(1, 1, &[0]).replicas(2), ["has 1 replica", "2"]),
    ] {
        let error = refused_before(compile(&client, name, options), &parts);
        assert_eq!(error.code(), Code::InvalidArgument);
    }
    // A program that states nothing takes the counts from the assignment.
    let program = Program::from_text(IDENTITY).expect("text");
    let program = client.compile(&program, &with(2, 1, &[3, 1]));
    assert_eq!(program.expect("a program").signature().replicas(), 2);
}

#[test]
fn replicas_run_where_the_assignment_says() {
    let client = client(4);
    let identity = Program::from_text(IDENTITY).expect("text");
    for ids in [&[3, 2, 1, 0][..], &[0, 1, 2, 3], &[2, 0, 3], &[3]] {
        let assignment = DeviceAssignment::new(ids.len(), 1, ids).expect("one");
        let options = CompileOptions::new().device_assignment(assignment);
        let program = client.compile(&identity, &options).expect("a program");
        let devices = program.devices();
        let on: Vec<i32> = devices.iter().map(Device::id).collect();
        assert_eq!(on, ids);
        let rows = devices.iter().map(|device| {
            let own = device.id() as f32;
            vector(device, &[own, own + 0.25, own + 0.5, own + 0.75])
        });
        let outputs = program.run_per_device(rows).expect("a run");
        for (position, (output, id)) in outputs.iter().zip(ids).enumerate() {
            assert_eq!(output[0].device().id(), *id);
            let own = *id as f32;
            assert_eq!(values(&output[0]), [own, own + 0.25, own + 0.5, own + 0.75]);
            // The number of the replica, not of the device.
            let replica = output[1].to_scalar::<u32>().expect("one");
            assert_eq!(replica, position as u32);
        }
    }
}

#[test]
fn collectives_work_on_any_devices() {
    let client = client(4);
    let rows = |devices: &[Device]| {
        let rows = devices.iter().enumerate();
        let rows = rows.map(|(i, device)| vector(device, &[10. * (i + 1) as f32; 4]));
        rows.collect::<Vec<_>>()
    };
    let assignment = DeviceAssignment::new(2, 1, &[3, 1]).expect("one");
    let options = CompileOptions::new().device_assignment(assignment);
    let sum = compile(&client, "all_reduce_replicas_2", options).expect("a program");
    let outputs = sum.run_per_device(rows(sum.devices())).expect("a run");
    for output in &outputs {
        // 10 and 20, to which each replica has added its number.
        assert_eq!(values(&output[0]), [31.; 4]);
    }

    let lesson = lesson("two_devices");
    for ids in [[0, 1], [1, 0], [3, 2]] {
        let assignment = DeviceAssignment::new(1, 2, &ids).expect("one");
        let options = CompileOptions::new().device_assignment(assignment);
        let sum = compile(&client, "two_devices", options).expect("a program");
        let devices = sum.devices();
        let rows = devices.iter().enumerate();
        let rows = rows.map(|(i, device)| lesson.arguments[0].buffer(i, device));
        let outputs = sum.run_per_device(rows).expect("a run");
        for (position, output) in outputs.iter().enumerate() {
            assert_eq!(output[0].device().id(), ids[position]);
            assert_eq!(values(&output[0]), lesson.results[0].f32(position));
        }
    }
}

#[test]
fn a_program_runs_on_the_device_that_is_named() {
    let client = client(8);
    for device in client.devices() {
        let add = compile(&client, "add", CompileOptions::new().device(&device));
        let add = add.expect("a program");
        adds_on(&add, &device);
        let again = client.deserialize(&add.serialize().expect("bytes"));
        adds_on(&again.expect("the same"), &device);
    }
    let add = compile(
        &client,
        "add",
        CompileOptions::new().device(&device(&client, 2)),
    );
    let x = vector(&device(&client, 5), &[1., 2., 3., 4.]);
    let parts = ["argument 0", "copy_to_device"];
    refused_before(add.expect("a program").run((&x, &x)), &parts);
    // A device of another client.
    let few = cpu::client(2);
    let outcome = compile(
        &few,
        "add",
        CompileOptions::new().device(&device(&client, 5)),
    );
    refused_before(outcome, &["device 0", "another client"]);
}

#[test]
fn the_default_assignment_is_the_first_devices() {
    let client = client(4);
    let of = |replicas, partitions| DeviceAssignment::default_for(&client, replicas, partitions);
    assert_eq!(of(1, 1).expect("one").ids(), [0]);
    assert_eq!(of(4, 1).expect("one").ids(), [0, 1, 2, 3]);
    let grid = of(2, 2).expect("one");
    assert_eq!(grid.ids().len(), 4);
    let default = compiled(&client, "all_reduce_replicas_4");
    let on: Vec<i32> = default.devices().iter().map(Device::id).collect();
    assert_eq!(on, [0, 1, 2, 3]);
    refused_before(of(5, 1), &["5 devices", "client has 4"]);
    refused_before(of(usize::MAX, usize::MAX), &["client has 4"]);
}

#[test]
fn no_default_assignment_is_for_nothing() {
    // The older plugins end the process when they are asked.
    in_child("no_default_assignment_is_for_nothing", || {
        let client = client(4);
        for (replicas, partitions, part) in [(0, 1, "0 replicas"), (1, 0, "0 partitions")] {
            let outcome = DeviceAssignment::default_for(&client, replicas, partitions);
            let error = refused_before(outcome, &[part]);
            assert_eq!(error.code(), Code::InvalidArgument);
        }
    })
    .check_well();
}

#[test]
fn compiler_options_are_known_by_name_and_type() {
    let client = client(1);
    let with = |name: &str, value: OptionValue| {
        compile(&client, "add", CompileOptions::new().option(name, value))
    };
    for name in ["no_such_option", "xla_no_such_option", "", "--xla_dump_to"] {
        let error = refused(with(name, true.into()), &[&format!("'{name}'")]);
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.function(), Some("PJRT_Client_Compile"));
    }
    let (truth, count, text) = (
        "xla_cpu_multi_thread_eigen",
        "xla_backend_optimization_level",
        "xla_dump_to",
    );
    for (name, value) in [
        (truth, OptionValue::from(7)),
        (truth, "maybe".into()),
        (truth, 0.5.into()),
        (count, "abc".into()),
        (count, true.into()),
        (count, 1.5.into()),
        (count, (1i64 << 40).into()),
        (text, true.into()),
        (text, 5.into()),
    ] {
        let error = refused(with(name, value.clone()), &[name]);
        assert_eq!(error.code(), Code::InvalidArgument, "{value:?}");
        assert_eq!(error.function(), Some("PJRT_Client_Compile"));
    }
    for (name, value) in [
        (truth, OptionValue::from(false)),
        (count, 0.into()),
        ("xla_gpu_autotune_gemm_rtol", 0.5.into()),
    ] {
        adds_on(&with(name, value).expect(name), &device(&client, 0));
    }
}

/// A folder for what a compiler dumps, which goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("options-{}-{test}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn text(&self) -> String {
        self.0.to_str().expect("UTF-8").to_owned()
    }

    fn file_count(&self) -> usize {
        fs::read_dir(&self.0).expect("the folder").count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn compiler_options_take_effect() {
    let folder = Folder::new("dump");
    let client = client(1);
    compile(&client, "add", CompileOptions::new()).expect("a program");
    assert_eq!(folder.file_count(), 0);
    let options = CompileOptions::new().option("xla_dump_to", folder.text());
    let add = compile(&client, "add", options).expect("a program");
    assert!(folder.file_count() > 0);
    adds_on(&add, &device(&client, 0));
}

/// One client each: the plugin reads the variable once a process, so the process has to
/// be a new one for each value that reaches it.
fn with_flags(test: &str, flags: &str, then: impl FnOnce(Result<Client, Error>)) -> cpu::Ended {
    in_child(test, || {
        std::env::set_var("XLA_FLAGS", flags);
        // What the plugin says of them is looked at below.
        std::env::remove_var("TF_CPP_MIN_LOG_LEVEL");
        then(made(ClientOptions::new().cpu_device_count(1)));
    })
}

#[test]
fn unknown_flags_are_refused() {
    in_child("unknown_flags_are_refused", || {
        for (flags, parts) in [
            (
                "--xla_no_such_flag=1",
                &["--xla_no_such_flag", "Remove it"][..],
            ),
            (
                "--xla_cpu_multi_thread_eigen=false --xla_typo=1",
                &["--xla_typo"],
            ),
            (
                "--xla_cpu_multi_thread_eige=false",
                &["--xla_cpu_multi_thread_eige`"],
            ),
            // What the plugin's file has as text, but not as a flag.
            ("--cpu_device_count=3", &["--cpu_device_count"]),
            ("--dump_to=x", &["--dump_to"]),
            ("--o=1", &["--o`"]),
            // It would print its help and end.
            ("--help", &["--help"]),
        ] {
            std::env::set_var("XLA_FLAGS", flags);
            let error = refused_before(made(ClientOptions::new()), parts);
            assert_eq!(error.code(), Code::InvalidArgument);
        }
        // The process and the plugin are none the worse for it.
        std::env::remove_var("XLA_FLAGS");
        let client = client(1);
        adds_on(&compiled(&client, "add"), &device(&client, 0));
    })
    .check_well();
}

#[test]
fn malformed_flags_are_refused() {
    in_child("malformed_flags_are_refused", || {
        for flags in [
            "xla_dump_to=x",
            "hello",
            "-xla_dump_to=x",
            "--",
            "--=1",
            "--xla_cpu_multi_thread_eigen=false,--xla_cpu_enable_fast_math=false",
            "--xla_cpu_multi_thread_eigen=false xla_cpu_enable_fast_math=false",
            "   ",
            "\n",
        ] {
            std::env::set_var("XLA_FLAGS", flags);
            let error = refused_before(made(ClientOptions::new()), &["XLA_FLAGS"]);
            assert_eq!(error.code(), Code::InvalidArgument, "{flags}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let bytes = std::ffi::OsStr::from_bytes(b"--xla_dump_to=\xff");
            std::env::set_var("XLA_FLAGS", bytes);
            refused_before(made(ClientOptions::new()), &["UTF-8"]);
        }
    })
    .check_well();
}

#[test]
fn known_flags_reach_the_plugin() {
    let test = "known_flags_reach_the_plugin";
    let folder = Folder::new(test);
    let flags = format!(
        "--xla_cpu_multi_thread_eigen=false\t--xla_dump_to={}\n",
        folder.text()
    );
    with_flags(test, &flags, |client| {
        let client = client.expect("a client");
        adds_on(&compiled(&client, "add"), &device(&client, 0));
        assert!(folder.file_count() > 0);
        drop(folder);
    })
    .check_well();
}

#[test]
fn quoted_values_reach_the_plugin() {
    let test = "quoted_values_reach_the_plugin";
    let folder = Folder::new(test);
    let flags = format!(
        "--xla_dump_to=\"{}\" --xla_dump_hlo_module_re='add|x y'",
        folder.text()
    );
    with_flags(test, &flags, |client| {
        let client = client.expect("a client");
        compiled(&client, "add");
        let dumped = folder.file_count();
        assert!(dumped > 0);
        // Of no module but those named.
        compiled_text(&client, "module @other { func.func @main() { return } }");
        assert_eq!(folder.file_count(), dumped);
        drop(folder);
    })
    .check_well();
}

#[test]
fn flags_may_come_from_a_file() {
    let test = "flags_may_come_from_a_file";
    let folder = Folder::new(test);
    let file = folder.0.join("flags");
    fs::write(
        &file,
        "--xla_cpu_multi_thread_eigen=false\n--xla_no_such_flag=1\n",
    )
    .expect("room");
    let flags = file.to_str().expect("UTF-8").to_owned();
    with_flags(test, &flags, |client| {
        refused_before(client, &["--xla_no_such_flag"]);
        let good = "--xla_cpu_multi_thread_eigen=false\n--xla_cpu_enable_fast_math=false\n";
        fs::write(&file, good).expect("room");
        let client = made(ClientOptions::new().cpu_device_count(1)).expect("a client");
        adds_on(&compiled(&client, "add"), &device(&client, 0));
        drop(folder);
    })
    .check_well();
}

#[test]
fn no_flags_are_no_flags() {
    with_flags("no_flags_are_no_flags", "", |client| {
        assert_eq!(client.expect("a client").device_count(), 1);
    })
    .check_well();
}

/// Why flags are looked at beforehand. A bad value of a known flag can't be seen from
/// outside, and shows what the plugins do about what they don't like.
#[test]
fn plugins_end_the_process_over_a_flag() {
    let flags = "--xla_cpu_multi_thread_eigen=maybe";
    let ended = with_flags("plugins_end_the_process_over_a_flag", flags, |client| {
        eprintln!("still here: {client:?}");
    });
    assert!(!ended.status.success() && !ended.timed_out, "{ended:?}");
    assert!(
        ended.stderr.contains("Couldn't interpret value maybe"),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("still here"), "{ended:?}");
}
