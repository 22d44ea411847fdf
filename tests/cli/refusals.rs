//! What is wrong is told, with the exit code that says whose fault it is.

use std::fs;
use std::process::Command;

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
        (&["run", &add, "--devices", "2049"], &["2048"]),
        (&["run", &add, "--replicas", "1000000"], &["2048"]),
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
            &["argument 0 (`x`)", "4 elements", "2 values stand"],
        ),
        (
            &["run", &add, "--arg", "=1 2,3,4", "--arg", "=ones"],
            &["`1 2` is no value of type f32"],
        ),
        (
            &["run", &add, "--arg", "=Zeros", "--arg", "=ones"],
            &["`Zeros` is no value", "zeros, ones, iota, rand:SEED"],
        ),
        (
            &["run", &add, "--arg", "=1e99,2,3,4", "--arg", "=ones"],
            &["`1e99` is no value of type f32"],
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
            &["run", &two, "--arg@0", "=x", "--arg@1", "=zeros"],
            &["`--arg@0 =x`", "`x` is no value"],
        ),
        (
            &["run", &two, "--arg@0", "=zeros"],
            &["position 1", "takes 1 argument, but got 0"],
        ),
        (
            &["run", &two, "--arg", "=zeros", "--arg@2", "=zeros"],
            &["`--arg@2 =zeros`", "position 2", "run by 2"],
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

/// Programs of versions to come and of long ago: the plugin's own range is told.
#[test]
fn versions_that_the_plugin_does_not_read_are_told_with_its_range() {
    let folder = Folder::new();
    let artifact = fs::read(program("add.stablehlo")).expect("there");
    let version = b"StableHLO_v1.13.0";
    let mut places = artifact.windows(version.len());
    let at = places.position(|it| it == version).expect("its version");
    let plugin = xla::Plugin::cpu().expect("a plugin");
    let (oldest, own) = plugin.stablehlo_versions().expect("told");
    let range = format!("{oldest} to {own}");
    for (other, told) in [
        (b"StableHLO_v9.99.9", "9.99.9"),
        (b"StableHLO_v0.08.0", "0.8.0"),
    ] {
        let mut changed = artifact.clone();
        changed[at..at + version.len()].copy_from_slice(other);
        let file = folder.write("other.stablehlo", changed);
        for command in ["inspect", "run", "compile"] {
            refused(1, &[command, &file], &["other.stablehlo", told, &range]);
        }
    }
}

/// A compiled program that was kept, damaged in each of its parts, is told as that.
#[test]
fn kept_programs_that_are_damaged_or_meant_otherwise_are_told() {
    let folder = Folder::new();
    let kept = folder.path("step.xla");
    json_with(0, &["compile", &program("sgd_step.mlir"), "--out", &kept]);
    for command in ["run", "compile"] {
        let parts = [
            "step.xla",
            "`jit_sgd_step`",
            "compiled for cpu already",
            "xla inspect",
        ];
        refused(1, &[command, &kept], &parts);
    }
    let whole = fs::read(&kept).expect("written");
    let header = 20 + u32::from_le_bytes(whole[8..12].try_into().expect("four")) as usize;
    let size = whole.len();
    let cut = |end: usize| whole[..end].to_vec();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let damages = [
        (cut(7), "end early"),
        (cut(8), "end early"),
        (cut(15), "end early"),
        (cut(20), "end early"),
        (cut(header - 1), "end early"),
        (cut(header), "ends early"),
        (cut(size - 1), "ends early"),
        (flipped(7), "format 18"),
        (flipped(8), "whole kept executable"),
        (flipped(12), "checksum"),
        (flipped(19), "checksum"),
        (flipped(20), "header's checksum"),
        (flipped(header - 1), "header's checksum"),
        (flipped(header), "checksum of the plugin's bytes"),
        (flipped(size - 1), "checksum of the plugin's bytes"),
        ([&whole[..], b"x"].concat(), "too long"),
    ];
    for (bytes, part) in damages {
        let file = folder.write("damaged.xla", bytes);
        for command in ["run", "inspect"] {
            refused(1, &[command, &file], &["damaged.xla", part]);
        }
    }
    // Where not even the beginning is that of one, it is no program either.
    for bytes in [flipped(0), flipped(6), vec![7; 5000]] {
        let file = folder.write("damaged.xla", bytes);
        refused(
            1,
            &["inspect", &file],
            &["damaged.xla is neither StableHLO text"],
        );
    }
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

#[cfg(unix)]
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
    // Where no file can be, before anything is compiled.
    std::os::unix::fs::symlink("nowhere", folder.path("dangling")).expect("a link");
    let fifo = folder.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo").success());
    for (out, plot, part) in [
        ("kept", "kept", "it is named twice"),
        ("kept", "./kept", "it is named twice"),
        ("kept", "dangling", "a link that leads nowhere"),
        ("kept", ".", "it is a folder"),
        ("kept", "fifo", "a device or a pipe"),
    ] {
        let (out, plot) = (folder.path(out), folder.path(plot));
        let words = ["compile", &add, "--out", &out, "--plot", &plot];
        refused(1, &words, &[part]);
        assert_eq!(fs::read(&kept).expect("there"), b"before");
        assert_eq!(folder.names(), ["dangling", "fifo", "kept"]);
    }
    for name in ["dangling", "fifo"] {
        fs::remove_file(folder.path(name)).expect("there");
    }
    // A link stays one, and what it leads to is written.
    std::os::unix::fs::symlink("kept", folder.path("link")).expect("a link");
    json_with(0, &["compile", &add, "--out", &folder.path("link")]);
    assert!(fs::read(&kept).expect("there").starts_with(b"xlapjrt"));
    assert!(fs::symlink_metadata(folder.path("link"))
        .expect("there")
        .is_symlink());
    fs::remove_file(folder.path("link")).expect("there");
    fs::write(&kept, "before").expect("room");
    // And where both can be, they are.
    let plot = folder.path("plot.svg");
    json_with(0, &["compile", &add, "--out", &kept, "--plot", &plot]);
    assert_ne!(fs::read(&kept).expect("there"), b"before");
    assert_eq!(folder.names(), ["kept", "plot.svg"]);
}
