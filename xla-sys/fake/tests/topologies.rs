//! Topologies and what is compiled for them: who holds whom, what older plugins lack, and what
//! the plugin is never asked.

mod session;

use pjrt_fake::{Fake, Table};
use session::{client, plugin, REPLICATED, STEP};
use xla::{
    Code, CompileOptions, DeviceAssignment, Plugin, Program, Topology, TopologyOptions, Value,
};

fn four(plugin: &Plugin) -> Topology {
    plugin
        .topology(&TopologyOptions::new("fake:4"))
        .expect("four devices")
}

fn step() -> Program {
    Program::from_text(STEP).expect("text")
}

fn asked(fake: &Fake, entry: &str) -> usize {
    fake.calls()
        .iter()
        .filter(|call| call.entry == entry)
        .count()
}

#[test]
fn a_compiled_program_holds_its_topology() {
    let fake = Fake::new();
    let plugin = plugin(&fake);
    let topology = four(&plugin);
    let compiled = topology
        .compile(&step(), &CompileOptions::new())
        .expect("compiles");
    let again = compiled.topology().clone();
    drop((topology, plugin));
    assert_eq!((fake.live().topologies, fake.live().executables), (1, 1));
    assert_eq!(again.devices()[3].coords(), Some(&[3, 0][..]));
    assert_eq!(again.devices()[3].memory_bytes(), None);
    drop(again);
    assert!(compiled.serialize().is_ok());
    drop(compiled);
    assert_eq!((fake.live().topologies, fake.live().executables), (0, 0));
    fake.assert_clean();
}

#[test]
fn all_that_is_known_is_told() {
    let fake = Fake::new();
    let topology = four(&plugin(&fake));
    assert_eq!(topology.platform_name(), "fake");
    assert_eq!(topology.fingerprint(), Some(0xface_0004));
    assert_eq!(topology.attribute("devices"), Some(&Value::Int(4)));
    let ids: Vec<i32> = topology.devices().iter().map(|it| it.id()).collect();
    assert_eq!(ids, [0, 1, 2, 3]);
    let compiled = topology
        .compile(&step(), &CompileOptions::new())
        .expect("compiles");
    let stats = compiled.memory_stats().expect("told");
    assert_eq!((stats.alias_bytes, stats.peak_bytes), (8, Some(16)));
    assert_eq!(compiled.generated_code_bytes().expect("told"), STEP.len());
    let costs = compiled.cost_analysis().expect("told");
    assert_eq!(costs, Some(vec![("flops".to_owned(), Value::Float(12.))]));
    let hlo = compiled.optimized_hlo().expect("told");
    let again = Program::from_hlo(hlo).expect("a module, which has no schedule");
    assert_eq!(again.format(), xla::ProgramFormat::Hlo);
}

#[test]
fn a_clients_topology_holds_the_client_and_is_never_destroyed() {
    let fake = Fake::new();
    let client = client(&fake);
    let topology = client.topology().expect("described");
    let devices = client.all_devices().len();
    drop(client);
    assert_eq!(fake.live().clients, 1);
    assert_eq!(topology.devices().len(), devices);
    let compiled = topology.compile(&step(), &CompileOptions::new());
    drop(topology);
    assert_eq!(fake.live().clients, 1);
    assert_eq!(compiled.expect("compiles").signature().donated_bytes(), 8);
    assert_eq!(fake.live().clients, 0);
    assert_eq!(asked(&fake, "PJRT_TopologyDescription_Destroy"), 0);
    fake.assert_clean();
}

#[test]
fn older_plugins_tell_less() {
    let fake = Fake::new();
    let old = Table::new()
        .without("PJRT_TopologyDescription_Fingerprint")
        .without("PJRT_TopologyDescription_Attributes")
        .without("PJRT_TopologyDescription_Deserialize")
        .without("PJRT_Executable_GetCostAnalysis");
    // SAFETY: the table is a fake's.
    let plugin = unsafe { Plugin::from_table(fake.table_of(&old)) }.expect("a plugin");
    let topology = four(&plugin);
    assert_eq!(topology.fingerprint(), None);
    assert_eq!(topology.attributes(), []);
    let bytes = topology.serialize().expect("bytes");
    let error = plugin.deserialize_topology(&bytes).expect_err("can't");
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(
        error
            .message()
            .contains("PJRT_TopologyDescription_Deserialize"),
        "{error}"
    );
    let compiled = topology.compile(&step(), &CompileOptions::new());
    let costs = compiled.expect("compiles").cost_analysis();
    assert_eq!(costs.expect("no failure"), None);
    drop(topology);
    fake.assert_clean();
}

#[test]
fn options_are_held_against_the_topology() {
    let fake = Fake::new();
    let plugin = plugin(&fake);
    let topology = plugin
        .topology(&TopologyOptions::new("fake:1"))
        .expect("one device");
    let replicated = Program::from_text(REPLICATED).expect("text");
    let foreign = DeviceAssignment::new(1, 1, &[7]).expect("an id");
    for (program, options, words) in [
        (&replicated, CompileOptions::new(), "the topology has 1"),
        (
            &step(),
            CompileOptions::new().replicas(2),
            "the topology has 1",
        ),
        (
            &step(),
            CompileOptions::new().device_assignment(foreign),
            "the topology has the ids [0]",
        ),
    ] {
        let error = topology.compile(program, &options).expect_err(words);
        assert!(error.message().contains(words), "{error}");
        assert_eq!(error.function(), None);
    }
    assert_eq!(asked(&fake, "PJRT_Compile"), 0);
    let strict = CompileOptions::new().strict_donation(true);
    let donor = "input f32[2] donor\noutput f32[3] = const 1";
    let donor = Program::from_text(donor).expect("text");
    let error = topology.compile(&donor, &strict).expect_err("no output");
    assert!(error.message().contains("no output has 8 bytes"), "{error}");
    drop(topology);
    fake.assert_clean();
}

#[test]
fn damaged_and_foreign_bytes_are_refused_first() {
    let fake = Fake::new();
    let (plugin, client) = (plugin(&fake), client(&fake));
    let topology = four(&plugin);
    let bytes = topology.serialize().expect("bytes");
    let compiled = topology
        .compile(&step(), &CompileOptions::new())
        .expect("compiles");
    let executable = compiled.serialize().expect("bytes");
    let mut bad: Vec<Vec<u8>> = (0..bytes.len()).map(|end| bytes[..end].to_vec()).collect();
    for position in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[position] ^= 4;
        bad.push(damaged);
    }
    bad.push(executable);
    for bytes in &bad {
        let error = plugin.deserialize_topology(bytes).expect_err("damaged");
        assert_eq!(error.code(), Code::DataLoss, "{error}");
        assert!(error.message().contains("serialised topology"), "{error}");
    }
    assert_eq!(asked(&fake, "PJRT_TopologyDescription_Deserialize"), 0);
    assert!(client.deserialize(&bytes).is_err(), "no executable");
    let again = plugin.deserialize_topology(&bytes).expect("whole");
    assert_eq!(again.fingerprint(), topology.fingerprint());
    drop((client, compiled, topology, again));
    fake.assert_clean();
}

#[test]
fn what_the_plugin_refuses_names_the_topology() {
    let fake = Fake::new();
    let error = plugin(&fake)
        .topology(&TopologyOptions::new("none:2"))
        .expect_err("no such");
    assert!(
        error.message().contains("making the topology `none:2`"),
        "{error}"
    );
    assert_eq!(error.function(), Some("PJRT_TopologyDescription_Create"));
    fake.assert_clean();
}
