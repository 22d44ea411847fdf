//! Programs of 100 MB are inspected in hardly more memory than they have.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::{json, Value};

use crate::hlo::large::{self, STATE};
use crate::{command, json, Folder};

/// What `xla` with these words prints, and the most memory that it had in bytes.
///
/// It prints more than a pipe holds, so it waits for its reader when all of its work is done.
fn told_and_peak(words: &[&str]) -> (Value, usize) {
    let mut child = command(words)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut out = child.stdout.take().expect("piped");
    let mut told = vec![0];
    out.read_exact(&mut told).expect("it prints");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("Linux");
    out.read_to_end(&mut told).expect("it goes on");
    assert!(child.wait().expect("it ends").success());
    assert!(told.len() > 1 << 17, "{} bytes fit a pipe", told.len());
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let line = line.expect("a process that lives has memory");
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<usize>();
    let told = serde_json::from_slice(&told).expect("JSON");
    (told, kilobytes.expect("a number") * 1024)
}

#[track_caller]
fn inspected(module: Vec<u8>, x: &str) {
    let folder = Folder::new();
    let size = module.len();
    assert!(size > 100_000_000, "{size} bytes");
    let path = folder.write("large.hlo.pb", module);
    let (told, peak) = told_and_peak(&["inspect", &path, "--json"]);
    assert!(peak < 2 * size, "{peak} bytes for {size}");
    assert_eq!(
        (&told["name"], &told["compiled"]),
        (&json!("large"), &json!(false))
    );
    let inputs = told["inputs"].as_array().expect("a list");
    assert_eq!(inputs.len(), STATE + 1);
    assert_eq!(
        (&inputs[0]["name"], &inputs[0]["type"]),
        (&json!("x"), &json!(x))
    );
    let last = &inputs[STATE];
    assert_eq!(last["name"], "state['layer_999']['kernel']");
    let into = json!({"kind": "into", "output": STATE, "required": false});
    assert_eq!(last["donation"], into);
    assert_eq!(told["outputs"][STATE]["returned_input"], STATE);
    assert_eq!(told["donated_bytes"], STATE * 16);
    assert_eq!(told["advice"]["candidates"][0]["input"], 0);
    assert!(told["memory"].is_null());
    let left_out = told["left_out"].as_str().expect("a sentence");
    for part in [&size.to_string(), "memory", "`--compile`"] {
        assert!(left_out.contains(part), "no `{part}` in: {left_out}");
    }
}

#[test]
fn a_constant_of_100_megabytes() {
    let elements = 25_000_000;
    inspected(large::with_constant(elements), &format!("f32[{elements}]"));
}

#[test]
fn two_hundred_thousand_instructions() {
    inspected(large::with_instructions(200_000), "f32[]");
}

/// What is too large to be compiled unasked, and small enough to be.
#[test]
fn large_ones_are_compiled_when_that_is_asked_for() {
    let folder = Folder::new();
    let elements = 9 << 20;
    let path = folder.write("large.hlo.pb", large::with_constant(elements));
    assert_eq!(json(&["inspect", &path])["compiled"], false);
    let told = json(&["inspect", &path, "--compile"]);
    assert_eq!(told["compiled"], true);
    // `x` and the state.
    let bytes = elements * 4 + STATE as u64 * 16;
    assert_eq!(told["memory"]["argument_bytes"], bytes);
    // So many devices are a question that only a compiled program answers.
    assert_eq!(
        json(&["inspect", &path, "--replicas", "1"])["compiled"],
        true
    );
}
