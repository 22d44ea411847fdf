//! Compiling for TPUs and GPUs that aren't there.

use serde_json::json;

use crate::{command, json, program, read_json, refused, Folder};

/// Compiles a step for a target, compares it, and looks at what was kept of it.
fn check(target: &str, platform: &str, devices: usize) {
    let folder = Folder::new();
    let out = folder.path("step.xla");
    let sgd = program("sgd_step.mlir");
    let words = ["compile", &sgd, "--target", target, "--compare-donation"];
    let told = json(&[&words[..], &["--out", &out]].concat());
    assert_eq!(told["platform"], platform);
    assert_eq!(told["device_count"], devices);
    assert_eq!(told["inputs"][0]["donation"]["output"], 0);
    let memory = &told["memory"];
    assert_eq!(memory["without"]["alias_bytes"], 0);
    // Four f32; TPUs pad them.
    let alias = memory["as_written"]["alias_bytes"].as_i64().expect("told");
    assert!(alias >= 16, "{alias}");
    assert_eq!(
        memory["as_written"]["argument_bytes"],
        memory["without"]["argument_bytes"]
    );

    let words = ["inspect", &out, "--json"];
    let kept = command(&words)
        .env("XLA_PJRT_CPU_PLUGIN", "/nowhere/plugin.so")
        .output();
    let kept = read_json(0, &words, &kept.expect("starts"));
    assert_eq!(kept["kept"]["platform"], platform);
    assert_eq!(kept["inputs"], told["inputs"]);
}

/// The bytes that the training step's donations give to outputs on each device, and what they
/// were without.
fn alias_bytes(target: &str) -> [i64; 2] {
    let step = program("train_step_4.mlir");
    let told = json(&["compile", &step, "--target", target, "--compare-donation"]);
    ["as_written", "without"].map(|version| {
        let alias = &told["memory"][version]["alias_bytes"];
        alias.as_i64().expect("a number")
    })
}

/// Weights and biases three times, the step and three sums, of 4 bytes each.
#[test]
fn the_training_step_donates_its_state_to_the_byte() {
    let layers = (9 * 16 + 16) + (9 * 16 * 32 + 32) + (1568 * 10 + 10);
    let state = 4 * (3 * layers + 1 + 3);
    assert_eq!(alias_bytes("cpu:4"), [state, 0]);
    #[cfg(feature = "fetch-cuda")]
    assert_eq!(alias_bytes("cuda:h100:1x1x4"), [state, 0]);
    // Padded to tiles of 8 by 128, which `tests/topology` reckons.
    #[cfg(feature = "fetch-tpu")]
    assert_eq!(alias_bytes("tpu:v5e:2x2"), [561_152, 0]);
}

#[cfg(feature = "fetch-tpu")]
#[test]
fn tpus() {
    check("tpu:v5e:2x2", "tpu", 4);
    let add = program("add.mlir");
    let words = ["compile", &add, "--target", "tpu:v9:2x2"];
    refused(1, &words, &["v9", "v5p, v6e, tpu7x"]);
}

#[cfg(feature = "fetch-cuda")]
#[test]
fn gpus() {
    check("cuda:h100:1x1x4", "cuda", 4);
    let add = program("add.mlir");
    let words = ["compile", &add, "--target", "cuda:a100:0x1x1"];
    refused(1, &words, &["1x1x4"]);
    let told = json(&["compile", &add, "--target", "cuda:a100:1x1x1"]);
    assert_eq!(told["target"], json!("cuda:a100:1x1x1"));
}
