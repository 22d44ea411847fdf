//! libtpu without a TPU.

use xla::{Code, CompileOptions, Error, Plugin, Program, Topology, TopologyOptions, Value};

use crate::cpu::{in_child, program};
use crate::train_step;

fn four() -> Topology {
    Topology::tpu("v5e:2x2").expect("libtpu")
}

#[test]
fn the_train_step_compiles_as_on_cpu() {
    let [donated, undonated] = train_step::check(&four(), &CompileOptions::new());
    let alias = donated.memory_stats().expect("told").alias_bytes;
    assert_eq!(alias, train_step::STATE_BYTES_V5E);
    assert!(donated.generated_code_bytes().expect("told") > 0);
    for compiled in [&donated, &undonated] {
        let costs = compiled.cost_analysis().expect("told").expect("reckoned");
        let flops = costs.iter().find(|(name, _)| name == "flops");
        assert!(
            matches!(flops, Some((_, Value::Float(flops))) if *flops > 1e6),
            "{costs:?}"
        );
    }
}

#[test]
fn the_adviser_finds_the_train_steps_donations() {
    // Labels and loss are as large as each other, padded.
    train_step::verify(
        &four(),
        &CompileOptions::new(),
        train_step::STATE_BYTES_V5E,
        512,
    );
}

#[test]
fn topologies_say_what_they_have() {
    let topology = four();
    assert_eq!(topology.platform_name(), "tpu");
    assert!(topology.platform_version().contains("TPU v5 lite"));
    let coords: Vec<_> = topology.devices().iter().map(|it| it.coords()).collect();
    let square: [&[i64]; 4] = [&[0, 0, 0], &[1, 0, 0], &[0, 1, 0], &[1, 1, 0]];
    assert_eq!(coords, square.map(Some));
    for device in topology.devices() {
        assert_eq!(device.kind(), "TPU v5 lite");
        // 16 GB a chip, less what is kept back.
        let bytes = device.memory_bytes().expect("told");
        assert!((15 << 30..=16 << 30).contains(&bytes), "{bytes}");
    }
    let again = topology
        .plugin()
        .deserialize_topology(&topology.serialize().expect("bytes"))
        .expect("libtpu reads topologies");
    assert_eq!(again.devices().len(), 4);
    assert!(topology.fingerprint().is_some());
    assert_eq!(again.fingerprint(), topology.fingerprint());
    let add = again.compile(&program("add"), &CompileOptions::new());
    add.expect("compiles");
}

#[test]
fn every_kind_is_described() {
    let plugin = Plugin::tpu().expect("libtpu");
    // Two cores of a chip are a device each, or one together ("megacore").
    for (name, devices) in [
        ("v2:2x2", 8),
        ("v3:2x2", 8),
        ("v4:2x2x1", 8),
        ("v5e:4x4", 16),
        ("v5p:2x2x1", 4),
        ("v6e:2x4", 8),
        ("tpu7x:2x2x1", 8),
    ] {
        let topology = plugin
            .topology(&TopologyOptions::new(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(topology.devices().len(), devices, "{name}");
        train_step::compile(&topology, "add", &CompileOptions::new());
    }
    let together = TopologyOptions::new("v4:2x2x1").option("chip_config_name", "megacore");
    let together = plugin.topology(&together).expect("an option of libtpu");
    assert_eq!(together.devices().len(), 4);
}

#[test]
fn names_are_refused_with_the_known_ones() {
    let ended = in_child("tpu::names_are_refused_with_the_known_ones", || {
        // Refused here: an extent of 0 ends the process, and so do layers of chips on v5e when
        // it compiles; an empty name is taken for v2.
        for name in [
            "",
            "v5e:0x2",
            "v4:2x2x0",
            "v5litepod-4",
            "v5e",
            "v5e:2x2x2x2",
            "v5e:4x4x4",
        ] {
            let error = Topology::tpu(name).expect_err(name);
            assert_eq!(error.function(), None, "{error}");
            assert!(error.message().contains("v5p, v6e, tpu7x"), "{error}");
        }
        // Refused by libtpu.
        for name in ["v9:2x2", "v5litepod:2x2", "v5e:3x5"] {
            let error = Topology::tpu(name).expect_err(name);
            assert!(error.function().is_some(), "{error}");
            assert!(error.message().contains(name), "{error}");
            assert!(error.message().contains("v5p, v6e, tpu7x"), "{error}");
        }
    });
    ended.check_well();
}

fn body(operation: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
           %y = {operation} : (tensor<4xf32>) -> tensor<4xf32>
           return %y : tensor<4xf32>
         }}"
    )
}

#[track_caller]
fn refused(topology: &Topology, program: &Program, options: CompileOptions) -> Error {
    let error = topology.compile(program, &options).expect_err("refused");
    assert_eq!(error.function(), None, "{error}");
    error
}

/// Each of the refused ends the process in libtpu.
#[test]
fn collectives_beyond_what_runs_are_refused() {
    let test = "tpu::collectives_beyond_what_runs_are_refused";
    let ended = in_child(test, || {
        let topology = four();
        let sum = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %c : tensor<f32> })";
        let channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, ";
        let groups = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>";
        let pairs = "source_target_pairs = dense<[[0, 3], [3, 0]]> : tensor<2x2xi64>";
        let reduce = |rest: &str| body(&format!("\"stablehlo.all_reduce\"(%x) {sum} {{{rest}}}"));
        let permute =
            |rest: &str| body(&format!("\"stablehlo.collective_permute\"(%x) {{{rest}}}"));
        let hex = "replica_groups = dense<\"0x0000000000000000010000000000000002000000000000000300000000000000\"> : tensor<1x4xi64>";
        // With the counts of replicas and partitions that suit each.
        let cases = [
            (reduce(groups), (4, 1)),
            (reduce(hex), (4, 1)),
            (
                reduce(&format!("{channel}{groups}, use_global_device_ids")),
                (1, 4),
            ),
            (permute(pairs), (4, 1)),
            (permute(&format!("{channel}{pairs}")), (1, 4)),
        ];
        for (text, (replicas, partitions)) in cases {
            let program = Program::from_text(text.as_str()).expect("text");
            let error = refused(&topology, &program, CompileOptions::new());
            assert!(error.message().contains("speak to 4 devices"), "{error}");
            if !text.contains("use_global") {
                let swapped = CompileOptions::new()
                    .replicas(partitions)
                    .partitions(replicas);
                refused(&topology, &program, swapped);
            }
            let right = CompileOptions::new()
                .replicas(replicas)
                .partitions(partitions);
            topology
                .compile(&program, &right)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        // Not read in bytecode.
        let bytecode = Program::from_bytecode(*b"ML\xefR\x0dStableHLO_v1.13.3\0 all_reduce_v2\0");
        let error = refused(
            &topology,
            &bytecode.expect("bytecode"),
            CompileOptions::new(),
        );
        assert!(
            error.message().contains("bytecode with collectives"),
            "{error}"
        );
    });
    ended.check_well();
}

/// Set where they are missing, by the layer alone, before libtpu looks at them.
#[test]
fn what_libtpu_must_be_told_is_in_the_environment() {
    let test = "tpu::what_libtpu_must_be_told_is_in_the_environment";
    let ended = in_child(test, || {
        let told = |name: &str| std::env::var(name).ok();
        // The process that started this one may have loaded libtpu.
        for name in [
            "TPU_SKIP_MDS_QUERY",
            "TPU_ACCELERATOR_TYPE",
            "TPU_WORKER_HOSTNAMES",
            "TPU_WORKER_ID",
        ] {
            std::env::remove_var(name);
        }
        std::env::set_var("ALLOW_MULTIPLE_LIBTPU_LOAD", "true");
        Plugin::cpu().expect("a CPU plugin");
        assert_eq!(
            told("TPU_SKIP_MDS_QUERY"),
            None,
            "no business of other plugins"
        );
        four();
        assert_eq!(told("TPU_SKIP_MDS_QUERY").as_deref(), Some("1"));
        assert_eq!(told("TPU_WORKER_HOSTNAMES").as_deref(), Some("localhost"));
        assert_eq!(told("ALLOW_MULTIPLE_LIBTPU_LOAD").as_deref(), Some("true"));
        assert!(told("PATH").is_some());
    });
    ended.check_well();
    assert!(!ended.stderr.contains("WARNING"), "{}", ended.stderr);
}

/// An unknown flag ends the process when something is compiled for the first time.
#[test]
fn unknown_flags_are_refused_first() {
    let ended = in_child("tpu::unknown_flags_are_refused_first", || {
        std::env::set_var("XLA_FLAGS", "--xla_no_such_flag=true");
        let error = Topology::tpu("v5e:2x2").expect_err("unknown");
        assert!(error.message().contains("xla_no_such_flag"), "{error}");
    });
    ended.check_well();
}

#[test]
fn without_a_tpu_there_is_no_client() {
    let ended = in_child("tpu::without_a_tpu_there_is_no_client", || {
        let error = Plugin::tpu().expect("libtpu").client().expect_err("no TPU");
        assert_ne!(error.code(), Code::Unimplemented, "{error}");
    });
    ended.check_well();
}
