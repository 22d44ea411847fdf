//! What is wrong is told, with the exit code that says whose fault it is.

use std::fs;

use crate::{json_with, output, program, refused, text, Folder};

#[test]
fn wrong_command_lines_are_usage() {
    let add = program("add.mlir");
    for (words, parts) in [
        (&["frob"][..], &["frob"][..]),
        (&["run"], &["PROGRAM"]),
        (
            &["run", &add, "--arg", "zeros"],
            &["no `=`", "f32[2]=zeros"],
        ),
        (
            &["run", &add, "--arg", "f33[2]=zeros"],
            &["`f33`", "f32", "bf16", "pred"],
        ),
        (&["run", &add, "--arg", "f32[2=zeros"], &["no `]`"]),
        (&["run", &add, "--arg", "=rand:x"], &["`x`", "seed"]),
        (&["run", &add, "--arg@x", "=zeros"], &["`x` is no device"]),
        (&["run", &add, "--arg@0"], &["--arg"]),
        (&["run", &add, "--repeat", "0"], &["--repeat"]),
        (&["run", &add, "--devices", "0"], &["count from 1"]),
        (&["run", &add, "--replicas", "1000000"], &["4096"]),
        (&["inspect", &add, "--diagram", "svg"], &["mermaid", "dot"]),
        (
            &["compile", &add, "--target", "gpu"],
            &["tpu:v5e:2x2", "v6e", "cuda:h100:1x1x4", "a100"],
        ),
        (
            &["compile", &add, "--target", "cuda:h200:1x1x4"],
            &["a100, h100"],
        ),
        (&["cache", "rm"], &["KEYS"]),
        (&["doctor", "--platform", "abacus"], &["cpu", "tpu"]),
    ] {
        refused(2, words, parts);
    }
}

/// Nothing at all is answered by the help, on stderr.
#[test]
fn no_command_is_usage() {
    let told = output(&[]);
    assert_eq!(told.status.code(), Some(2));
    assert!(told.stdout.is_empty());
    assert!(text(&told.stderr).contains("inspect"));
}

#[test]
fn help_and_version_are_no_failures() {
    for words in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let told = output(words);
        assert_eq!(told.status.code(), Some(0), "{words:?}");
        assert!(text(&told.stdout).contains("xla"), "{words:?}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let (add, two) = (program("add.mlir"), program("two_devices.mlir"));
    for (words, parts) in [
        (
            &["run", &add][..],
            &[
                "takes 2 arguments, but got 0",
                "argument 0 (`x`), f32[4]",
                "argument 1 (`y`), f32[4]",
                "--arg =zeros",
            ][..],
        ),
        (
            &["run", &add, "--arg", "=ones"],
            &["missing: argument 1 (`y`), f32[4]"],
        ),
        (
            &[
                "run", &add, "--arg", "=ones", "--arg", "=ones", "--arg", "=ones",
            ],
            &["takes 2 arguments, but got 3"],
        ),
        (
            &["run", &add, "--arg", "=ones", "--arg", "f32[3]=zeros"],
            &["argument 1 (`y`), wanted f32[4]", "got f32[3]"],
        ),
        (
            &["run", &add, "--arg", "s32[4]=zeros", "--arg", "=ones"],
            &["argument 0 (`x`), wanted f32[4]", "got s32[4]"],
        ),
        (
            &["run", &add, "--arg", "=1,2", "--arg", "=ones"],
            &["argument 0 (`x`)", "4 elements", "2 values"],
        ),
        (
            &["run", &add, "--arg", "=1,2,x,4", "--arg", "=ones"],
            &["argument 0 (`x`)", "`x` is no value of type f32"],
        ),
        (
            &["run", &two, "--arg", "f32[3,4]=zeros"],
            &[
                "argument 0 (`row`)",
                "f32[2,4] over all devices, f32[1,4] on each",
                "got f32[3,4]",
            ],
        ),
        (
            &[
                "run",
                &two,
                "--arg@0",
                "f32[2,4]=zeros",
                "--arg@1",
                "=zeros",
            ],
            &["argument 0 (`row`)", "got f32[2,4]"],
        ),
        (
            &["run", &two, "--arg@0", "=zeros"],
            &["position 1", "takes 1 argument, but got 0"],
        ),
        (
            &["run", &two, "--arg", "=zeros", "--arg@2", "=zeros"],
            &["position 2", "run by 2"],
        ),
        (
            &[
                "run",
                &two,
                "--arg@0",
                "give:=zeros",
                "--arg@1",
                "lend:=zeros",
            ],
            &["row"],
        ),
    ] {
        refused(1, words, parts);
    }
    let must = program("must_alias.hlo.pb");
    let words = ["run", &must, "--arg", "lend:=zeros", "--arg", "=zeros"];
    refused(1, &words, &["argument 0"]);
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let (two, scheduled) = (program("two_devices.mlir"), program("scheduled.hlo.pb"));
    refused(1, &["inspect", &folder.path("gone.mlir")], &["gone.mlir"]);
    refused(1, &["run", &folder.path("gone.mlir")], &["gone.mlir"]);
    let nonsense = folder.write("nonsense.mlir", "nonsense");
    refused(1, &["inspect", &nonsense], &["nonsense.mlir"]);
    refused(1, &["inspect", &two, "--devices", "1"], &["2"]);
    refused(
        1,
        &["run", &scheduled, "--arg", "=ones", "--arg", "=ones"],
        &["schedule"],
    );
    let bytecode = program("add.bc");
    let words = ["compile", &bytecode, "--compare-donation"];
    refused(1, &words, &["StableHLO text"]);
    let words = ["inspect", &two, "--plugin", &nonsense];
    refused(1, &words, &["nonsense.mlir"]);
}

/// A plugin that was named and isn't there.
#[test]
fn the_plugin_that_was_meant_is_named() {
    let add = program("add.mlir");
    let words = ["inspect", &add, "--json"];
    let told = crate::command(&words)
        .env("XLA_PJRT_CPU_PLUGIN", "/nowhere/plugin.so")
        .output()
        .expect("starts");
    let told = crate::read_json(1, &words, &told);
    assert_eq!(told["error"]["code"], "NOT_FOUND");
    let message = told["error"]["message"].as_str().expect("text");
    assert!(message.contains("/nowhere/plugin.so"), "{message}");
}

#[test]
fn files_stay_where_nothing_could_be_written() {
    let folder = Folder::new();
    let add = program("add.mlir");
    let kept = folder.write("kept", "before");
    let missing = folder.path("no/folder/plot.svg");
    let words = ["compile", &add, "--out", &kept, "--plot", &missing];
    refused(1, &words, &["plot.svg"]);
    assert_eq!(fs::read(&kept).expect("there"), b"before");
    assert_eq!(folder.names(), ["kept"]);
    // And where both can be, they are.
    let plot = folder.path("plot.svg");
    json_with(0, &["compile", &add, "--out", &kept, "--plot", &plot]);
    assert_ne!(fs::read(&kept).expect("there"), b"before");
    assert_eq!(folder.names(), ["kept", "plot.svg"]);
}
