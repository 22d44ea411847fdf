//! The CUDA plugin without a GPU.

use xla::{CompileOptions, GpuTarget, Plugin, Topology, TopologyOptions, Value};

use crate::cpu::{in_child, program};
use crate::train_step;

fn four() -> Topology {
    Topology::cuda(&GpuTarget::h100(), [1, 1, 4]).expect("the CUDA plugin")
}

#[test]
fn the_train_step_compiles_as_on_cpu() {
    let [donated, undonated] = train_step::check(&four(), &CompileOptions::new());
    let alias = donated.memory_stats().expect("told").alias_bytes;
    assert_eq!(alias, train_step::STATE_BYTES as i64);
    for compiled in [&donated, &undonated] {
        assert_eq!(compiled.cost_analysis().expect("no failure"), None);
    }
}

#[test]
fn the_adviser_finds_the_train_steps_donations() {
    train_step::verify(
        &four(),
        &CompileOptions::new(),
        train_step::STATE_BYTES as i64,
        0,
    );
}

#[test]
fn topologies_say_what_they_have() {
    let topology = four();
    assert_eq!(topology.platform_name(), "cuda");
    assert_eq!(topology.devices().len(), 4);
    for (index, device) in topology.devices().iter().enumerate() {
        assert_eq!(device.kind(), "NVIDIA H100 80GB HBM3");
        assert_eq!(device.coords(), Some(&[0, 0, index as i64][..]));
        assert_eq!(device.memory_bytes(), Some(84_942_979_072));
        let capability = device.attribute("compute_capability");
        assert_eq!(capability, Some(&Value::Str("9.0".to_owned())));
    }
    // What it tells of the GPU makes the same topology.
    let text = topology.attribute("target_config").and_then(Value::as_str);
    let again = GpuTarget::from_text(text.expect("told")).expect("whole");
    let again = Topology::cuda(&again, [1, 1, 4]).expect("the same");
    assert_eq!(again.fingerprint(), topology.fingerprint());
    let hosts = Topology::cuda(&GpuTarget::a100(), [2, 2, 8]).expect("two by two hosts");
    assert_eq!(hosts.devices().len(), 32);
    assert_eq!(hosts.devices()[31].process_index(), 3);
}

#[test]
fn an_a100_is_another_target() {
    let topology = Topology::cuda(&GpuTarget::a100(), [1, 1, 1]).expect("the CUDA plugin");
    let matmul = train_step::compile(&topology, "matmul_bf16", &CompileOptions::new());
    let signature = matmul.signature();
    assert_eq!(signature.inputs().len(), 2);
    assert!(!matmul.serialize().expect("bytes").is_empty());
}

/// What the plugin dies of, or takes long over, is refused before it is asked.
#[test]
fn targets_and_shapes_are_refused_first() {
    let test = "cuda::targets_and_shapes_are_refused_first";
    let ended = in_child(test, || {
        let plugin = Plugin::cuda().expect("the CUDA plugin");
        let gpu = || TopologyOptions::gpu(&GpuTarget::h100(), [1, 1, 4]);
        for options in [
            gpu().option("target_config", ""),
            gpu().option("target_config", 3),
            gpu().option("target_config", true),
            gpu().option("target_config", vec![1, 2]),
            gpu().option("target_config", "platform_name: \"CUDA\""),
            gpu().option("topology", 4),
            gpu().option("topology", "-1x1x4"),
            TopologyOptions::gpu(&GpuTarget::h100(), [1000, 1000, 1000]),
            TopologyOptions::gpu(&GpuTarget::h100(), [1, 0, 4]),
        ] {
            let error = plugin.topology(&options).expect_err("refused");
            assert_eq!(error.function(), None, "{error}");
        }
        // The plugin knows better which fields there are.
        let text = GpuTarget::h100().as_text().to_owned() + "\nno_such_field: 1";
        let unknown = GpuTarget::from_text(text).expect("whole");
        let error = Topology::cuda(&unknown, [1, 1, 4]).expect_err("unknown");
        assert!(error.function().is_some(), "{error}");
    });
    ended.check_well();
}

#[test]
fn options_reach_the_compiler() {
    let topology = four();
    let options = CompileOptions::new().option("xla_gpu_cuda_data_dir", "/no/such/folder");
    topology
        .compile(&program("add"), &options)
        .expect("ptxas is beside the plugin");
    let options = CompileOptions::new().option("xla_no_such_option", true);
    let error = topology.compile(&program("add"), &options);
    let error = error.expect_err("unknown");
    assert_eq!(error.function(), Some("PJRT_Compile"), "{error}");
}

#[test]
fn without_a_gpu_there_is_no_client() {
    let ended = in_child("cuda::without_a_gpu_there_is_no_client", || {
        let plugin = Plugin::cuda().expect("the CUDA plugin");
        assert!(plugin.client().is_err());
    });
    ended.check_well();
}
