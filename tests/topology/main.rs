//! Topologies: programs compiled for devices that aren't there.
//!
//! With any CPU plugin: the topology of its client. With the features `fetch-tpu` and
//! `fetch-cuda`: compiling for TPUs and GPUs on a machine without, where the same
//! train step must come out as on CPU.

#[path = "../cpu/mod.rs"]
mod cpu;
#[cfg(feature = "fetch-cuda")]
mod cuda;
#[cfg(feature = "fetch-tpu")]
mod tpu;
#[cfg(any(feature = "fetch-tpu", feature = "fetch-cuda"))]
mod train_step;

use cpu::{api_minor, client, device, lesson, program, values};
use xla::{Client, Code, CompileOptions, Plugin, Program, TopologyOptions};

/// On API 0.81 and 0.106 the CPU plugin has no compiler without a client.
fn compiles_without_a_client(client: &Client) -> bool {
    api_minor(client) > 106
}

#[test]
fn a_clients_topology_describes_its_devices() {
    let client = client(3);
    let topology = client.topology().expect("described");
    assert_eq!(topology.platform_name(), "cpu");
    assert_eq!(topology.plugin().path(), client.plugin().path());
    let described: Vec<(i32, &str, i32)> = topology
        .devices()
        .iter()
        .map(|device| (device.id(), device.kind(), device.process_index()))
        .collect();
    assert_eq!(described, [(0, "cpu", 0), (1, "cpu", 0), (2, "cpu", 0)]);
    assert_eq!(topology.devices()[0].coords(), None);
    assert_eq!(topology.devices()[0].memory_bytes(), None);
    assert_eq!(topology.fingerprint().is_some(), api_minor(&client) > 81);
    assert!(!topology.serialize().expect("bytes").is_empty());
    assert!(
        format!("{topology:?}").contains("devices: 3"),
        "{topology:?}"
    );
}

#[test]
fn a_topology_keeps_its_client() {
    let client = client(2);
    let topology = client.topology().expect("described");
    drop(client);
    assert_eq!(topology.devices().len(), 2);
    let bytes = topology.serialize().expect("bytes");
    assert!(!bytes.is_empty());
}

#[test]
fn compiled_for_a_topology_and_loaded_on_its_client() {
    let client = client(1);
    let topology = client.topology().expect("described");
    let compiled = topology.compile(&program("add"), &CompileOptions::new());
    if !compiles_without_a_client(&client) {
        let error = compiled.expect_err("no compiler");
        assert_eq!(error.code(), Code::NotFound, "{error}");
        assert_eq!(error.function(), Some("PJRT_Compile"), "{error}");
        return;
    }
    let compiled = compiled.expect("compiles");
    let here = cpu::compiled(&client, "add");
    let table = here.signature().to_string();
    assert_eq!(compiled.signature().to_string(), table);
    assert!(compiled.memory_stats().expect("told").argument_bytes > 0);
    assert_eq!(compiled.cost_analysis().expect("told"), None);
    assert!(!compiled.optimized_hlo().expect("told").is_empty());
    let bytes = compiled.serialize().expect("bytes");
    drop((compiled, topology));
    let loaded = client.deserialize(&bytes).expect("the same plugin");
    let lesson = lesson("add");
    let inputs: Vec<_> = lesson
        .arguments
        .iter()
        .map(|values| values.buffer(0, &device(&client, 0)))
        .collect();
    let outputs = loaded.run(inputs).expect("runs");
    assert_eq!(values(&outputs[0]), lesson.results[0].f32(0));
}

#[test]
fn what_was_compiled_donates_as_it_would_on_the_client() {
    let client = client(1);
    if !compiles_without_a_client(&client) {
        return;
    }
    let topology = client.topology().expect("described");
    let here = cpu::compiled(&client, "train_step_1");
    let compiled = topology
        .compile(&program("train_step_1"), &CompileOptions::new())
        .expect("compiles");
    let table = here.signature().to_string();
    assert_eq!(compiled.signature().to_string(), table);
    let there = compiled.memory_stats().expect("told");
    let here = here.memory_stats().expect("told");
    assert_eq!(there.alias_bytes, here.alias_bytes);
    assert_eq!(there.peak_bytes, here.peak_bytes);
}

#[test]
fn more_devices_than_the_topology_has_are_refused() {
    let topology = client(2).topology().expect("described");
    let any = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
    let any = Program::from_text(any).expect("text");
    for (program, options) in [
        (program("train_step_4"), CompileOptions::new()),
        (any, CompileOptions::new().replicas(3)),
    ] {
        let error = topology.compile(&program, &options).expect_err("too few");
        assert_eq!(error.function(), None, "{error}");
        assert!(error.message().contains("the topology has 2"), "{error}");
    }
}

#[test]
fn cpu_plugins_make_none_by_name() {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    for name in ["", "cpu:4"] {
        let error = plugin
            .topology(&TopologyOptions::new(name))
            .expect_err("CPU");
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
    }
}

/// Compilers read topologies, so only a plugin that compiles without a client does.
#[test]
fn serialised_topologies_come_back() {
    let client = client(2);
    let topology = client.topology().expect("described");
    let bytes = topology.serialize().expect("bytes");
    let again = client.plugin().deserialize_topology(&bytes);
    if compiles_without_a_client(&client) {
        let again = again.expect("whole");
        assert_eq!(again.devices().len(), 2);
        assert_eq!(again.fingerprint(), topology.fingerprint());
    } else {
        let error = again.expect_err("the compiler would have to");
        assert_eq!(error.code(), Code::NotFound, "{error}");
    }
    for bad in [&bytes[..bytes.len() - 1], b"", b"xlatopo\x01"] {
        let error = client.plugin().deserialize_topology(bad).expect_err("bad");
        assert_eq!(error.code(), Code::DataLoss, "{error}");
    }
}
