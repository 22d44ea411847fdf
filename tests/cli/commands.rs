//! What the other commands tell.

use std::fs;

use serde_json::{json, Value};

use crate::donations;
use crate::{command, json, json_with, output, program, read_json, refused, text, Folder};

#[test]
fn doctor_finds_the_plugin() {
    let told = json(&["doctor"]);
    assert_eq!(told["works"], true);
    let plugins = told["plugins"].as_array().expect("a list");
    let names: Vec<&str> = plugins
        .iter()
        .map(|it| it["platform"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["cpu", "cuda", "tpu", "rocm"]);
    let cpu = &plugins[0];
    assert_eq!(cpu["state"], "found");
    let (major, minor) = xla::Plugin::cpu().expect("a plugin").api_version();
    assert_eq!(cpu["api"], format!("{major}.{minor}").as_str());
    let path = cpu["path"].as_str().expect("a path");
    assert!(fs::metadata(path).is_ok(), "{path}");
    assert!(cpu["devices"][0]["id"].is_number());
    let plugin = xla::Plugin::cpu().expect("a plugin");
    let origin = plugin.origin().expect("it was looked for");
    assert_eq!(cpu["origin"], origin.to_string());
    let stablehlo = plugin.stablehlo_versions().expect("told");
    assert_eq!(cpu["stablehlo"]["oldest"], stablehlo.0.to_string());
    assert_eq!(cpu["stablehlo"]["own"], stablehlo.1.to_string());
    let extensions = cpu["extensions"].as_array().expect("a list");
    let listed = plugin.extensions();
    assert_eq!(extensions.len(), listed.len());
    for (told, extension) in extensions.iter().zip(listed) {
        assert_eq!(told["number"], extension.number());
        assert_eq!(told["name"], extension.to_string());
    }
    // All plugins, old and new, have this one.
    assert!(extensions.contains(&json!({"number": 4, "name": "Layouts"})));
    assert_eq!(cpu["missing"], json!([]));
    // People read the same.
    let told = text(&output(&["doctor", "--platform", "cpu"]).stdout);
    let wanted = [
        format!(", by {origin}\n"),
        format!("StableHLO {} to {}", stablehlo.0, stablehlo.1),
    ];
    for part in wanted
        .iter()
        .map(String::as_str)
        .chain(["extensions: ", "Layouts"])
    {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    for other in &plugins[1..] {
        if other["state"] == "missing" {
            assert!(!other["looked"].as_array().expect("places").is_empty());
            let mend = other["mend"].as_str().expect("a way out");
            let command = other["command"].as_str().expect("a command");
            assert!(command.starts_with("python3 -m pip install "), "{command}");
            assert!(mend.ends_with(command), "{mend}");
        }
    }
}

#[test]
fn doctor_says_what_is_missing() {
    for broken in ["/nowhere/plugin.so", env!("CARGO_BIN_EXE_xla")] {
        let words = ["doctor", "--json"];
        let told = command(&words).env("XLA_PJRT_CPU_PLUGIN", broken).output();
        let told = read_json(1, &words, &told.expect("starts"));
        assert_eq!(told["works"], false);
        let cpu = &told["plugins"][0];
        assert_ne!(cpu["state"], "found");
        assert!(cpu["command"]
            .as_str()
            .expect("a command")
            .contains("pip install"));
        let message = cpu["message"].as_str().expect("text");
        assert!(message.contains(broken), "{message}");
    }
}

/// The plugin for NVIDIA GPUs compiles with `ptxas`, which another wheel has.
#[cfg(all(feature = "fetch-cuda", unix))]
#[test]
fn doctor_says_that_the_assembler_is_missing() {
    let folder = Folder::new();
    let search = xla::PluginSearch::cuda();
    let (plugin, _) = search.found().expect("fetched");
    let doctor = |plugin: &str| {
        let words = ["doctor", "--platform", "cuda", "--json"];
        let told = command(&words)
            .env("XLA_PJRT_CUDA_PLUGIN", plugin)
            .env("PATH", "")
            .output();
        // Nothing runs without a GPU.
        let told = told.expect("starts");
        let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
        told["plugins"][0].clone()
    };
    let told = doctor(plugin.to_str().expect("text"));
    assert_eq!(
        (&told["state"], &told["missing"]),
        (&json!("found"), &json!([]))
    );
    assert_eq!(told["origin"], "XLA_PJRT_CUDA_PLUGIN");
    if !std::path::Path::new("/dev/nvidiactl").exists() {
        let note = told["note"].as_str().expect("a note");
        assert!(note.contains("/dev/nvidiactl"), "{note}");
    }
    // The same file without the other wheel beside it.
    let alone = folder.path("xla_cuda_plugin.so");
    fs::hard_link(plugin, &alone)
        .or_else(|_| fs::copy(plugin, &alone).map(|_| ()))
        .expect("room");
    let told = doctor(&alone);
    let command = &told["missing"][0]["command"];
    assert_eq!(command, "python3 -m pip install nvidia-cuda-nvcc-cu12");
}

#[test]
fn inspect_tells_the_signature() {
    let told = json(&["inspect", &program("sgd_step.mlir")]);
    assert_eq!(told["name"], "jit_sgd_step");
    assert_eq!(
        (&told["replicas"], &told["partitions"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(told["donated_bytes"], 16);
    let (w, g) = (&told["inputs"][0], &told["inputs"][1]);
    assert_eq!((&w["name"], &w["type"]), (&json!("w"), &json!("f32[4]")));
    assert_eq!(
        w["donation"],
        json!({"kind": "into", "output": 0, "required": false})
    );
    assert_eq!(
        (&g["name"], &g["donation"]),
        (&json!("g"), &json!({"kind": "none"}))
    );
    assert_eq!(told["outputs"][0]["type"], "f32[4]");
    assert_eq!(told["memory"]["argument_bytes"], 32);
    assert_eq!(told["memory"]["alias_bytes"], 16);
    assert_eq!(told["advice"]["candidates"], json!([]));

    let told = json(&["inspect", &program("must_alias.hlo.pb")]);
    assert_eq!(told["inputs"][0]["donation"]["required"], true);
}

#[test]
fn inspect_tells_shardings_and_advice() {
    let told = json(&["inspect", &program("two_devices.mlir")]);
    let row = &told["inputs"][0];
    assert_eq!(row["type"], "f32[1,4]");
    assert_eq!(row["global_type"], "f32[2,4]");
    assert_eq!(row["sharding"], "{devices=[2,1]<=[2]}");
    assert_eq!(told["has_collectives"], true);
    assert_eq!(told["partitions"], 2);

    // Nothing is donated, and an argument of the result's size could be.
    let told = json(&["inspect", &program("add.mlir")]);
    assert_eq!(told["advice"]["bytes_saved"], 16);
    let candidate = &told["advice"]["candidates"][0];
    assert_eq!(
        (&candidate["input"], &candidate["output"]),
        (&json!(0), &json!(0))
    );

    let told = json(&["inspect", &program("add.mlir"), "--replicas", "2"]);
    assert_eq!(told["replicas"], 2);
}

/// Copies of all programs of the examples that donate, without their donations.
#[test]
fn inspect_finds_what_was_taken_out() {
    let folder = Folder::new();
    let all = donations::donating();
    assert!(all.len() >= 19, "programs of the examples are missing");
    for (name, text) in all {
        let copy = folder.write(&format!("{name}.mlir"), donations::stripped(&text));
        let told = json(&["inspect", &copy]);
        assert_eq!(told["donated_bytes"], 0, "{name}");
        let candidates = told["advice"]["candidates"].as_array().expect("a list");
        let found = candidates.iter().map(|it| {
            let index = |what: &str| it[what].as_u64().expect("a number") as usize;
            (index("input"), index("output"))
        });
        let found: Vec<_> = found.collect();
        let wanted = donations::in_the_text(&text).into_iter().zip(&found);
        let wanted: Vec<_> = wanted
            .map(|((input, output), found)| (input, output.unwrap_or(found.1)))
            .collect();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn inspect_draws() {
    let sgd = program("sgd_step.mlir");
    for (language, start, arrow) in [
        ("mermaid", "flowchart LR\n", "in0 -->|donated| out0"),
        ("dot", "digraph", "in0 -> out0"),
    ] {
        let told = output(&["inspect", &sgd, "--diagram", language]);
        let picture = text(&told.stdout);
        assert!(
            picture.starts_with(start) && picture.contains(arrow),
            "{picture}"
        );
        let told = json(&["inspect", &sgd, "--diagram", language]);
        assert_eq!(told["diagram"], picture.as_str());
    }
}

#[test]
fn compile_compares_donation() {
    let folder = Folder::new();
    let (out, plot) = (folder.path("step.xla"), folder.path("plot.svg"));
    let sgd = program("sgd_step.mlir");
    let words = [
        "compile",
        &sgd,
        "--compare-donation",
        "--out",
        &out,
        "--plot",
        &plot,
    ];
    let told = json(&words);
    let memory = &told["memory"];
    assert_eq!(memory["without"]["alias_bytes"], 0);
    assert_eq!(memory["as_written"]["alias_bytes"], 16);
    assert_eq!(memory["as_written"]["argument_bytes"], 32);
    assert!(memory.get("all_candidates").is_none());
    assert_eq!(
        (&told["target"], &told["platform"]),
        (&json!("cpu"), &json!("cpu"))
    );
    assert_eq!(told["files"], json!([out, plot]));
    let svg = fs::read_to_string(&plot).expect("written");
    assert!(
        svg.starts_with("<svg") && svg.contains("without donation"),
        "{svg}"
    );

    // What was written is told without a plugin.
    let kept = command(&["inspect", &out, "--json"])
        .env("XLA_PJRT_CPU_PLUGIN", "/nowhere/plugin.so")
        .output();
    let kept = read_json(0, &["inspect", &out], &kept.expect("starts"));
    assert_eq!(kept["inputs"][0]["donation"]["output"], 0);
    assert_eq!(kept["kept"]["platform"], "cpu");

    // What could be donated beside it.
    let told = json(&["compile", &program("add.mlir"), "--compare-donation"]);
    let memory = &told["memory"];
    assert!(memory.get("without").is_none());
    assert_eq!(memory["as_written"]["alias_bytes"], 0);
    assert_eq!(memory["all_candidates"]["alias_bytes"], 16);

    let four = program("train_step_4.mlir");
    let told = json(&["compile", &four, "--target", "cpu:4", "--compare-donation"]);
    let peak = |version: &str| told["memory"][version]["peak_bytes"].as_i64();
    if let (Some(without), Some(donating)) = (peak("without"), peak("as_written")) {
        assert!(donating < without, "{donating}, {without}");
    }
    let table = output(&["compile", &sgd, "--compare-donation"]);
    let table = text(&table.stdout);
    assert!(table.contains("without donation  as written"), "{table}");
    let words = ["compile", &four, "--target", "cpu:2"];
    refused(1, &words, &["4"]);
}

/// `xla` with a cache in this folder.
fn with_cache(dir: &str, words: &[&str]) -> Value {
    let words = [words, &["--json"]].concat();
    let told = command(&words).env("XLA_PJRT_COMPILE_CACHE", dir).output();
    read_json(0, &words, &told.expect("starts"))
}

#[test]
fn the_compile_cache_is_listed_checked_and_cleared() {
    let folder = Folder::new();
    let dir = folder.path("cache");
    let (add, counter) = (program("add.mlir"), program("counter.mlir"));
    assert_eq!(json(&["cache", "ls", "--dir", &dir])["entries"], json!([]));
    with_cache(&dir, &["run", &add, "--arg", "=ones", "--arg", "=ones"]);
    with_cache(&dir, &["run", &add, "--arg", "=ones", "--arg", "=ones"]);
    with_cache(&dir, &["run", &counter, "--arg", "=1"]);

    let told = json(&["cache", "ls", "--dir", &dir]);
    let entries = told["entries"].as_array().expect("a list");
    let mut names: Vec<&str> = entries
        .iter()
        .map(|it| it["name"].as_str().expect("text"))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["jit_add", "jit_counter"]);
    assert_eq!(with_cache(&dir, &["cache", "ls"])["dir"], dir.as_str());
    assert_eq!(json(&["cache", "verify", "--dir", &dir])["whole"], true);

    // Damage one, at its end, where only reading all of it tells.
    let key = entries[0]["key"].as_str().expect("a key");
    let files = fs::read_dir(&dir).expect("a folder");
    let mut files = files.map(|it| it.expect("readable").path());
    let file = files
        .find(|it| it.to_string_lossy().contains(key))
        .expect("its file");
    let mut bytes = fs::read(&file).expect("readable");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&file, bytes).expect("writable");
    let told = json_with(1, &["cache", "verify", "--dir", &dir]);
    assert_eq!(told["whole"], false);
    let damaged = told["entries"].as_array().expect("a list").iter();
    let damaged: Vec<_> = damaged.filter(|it| !it["error"].is_null()).collect();
    assert_eq!((damaged.len(), &damaged[0]["key"]), (1, &json!(key)));

    refused(1, &["cache", "rm", "zz", "--dir", &dir], &["`zz`"]);
    let told = json(&["cache", "rm", &key[..12], "--dir", &dir]);
    assert_eq!(
        (&told["removed"], &told["keys"]),
        (&json!(1), &json!([key]))
    );
    assert_eq!(json(&["cache", "rm", "--all", "--dir", &dir])["removed"], 1);
    assert_eq!(json(&["cache", "ls", "--dir", &dir])["entries"], json!([]));
}
