//! Plugins that die, print or hang: there is one answer all the same.

use std::io::{BufRead, BufReader, Read};
use std::mem::offset_of;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{mpsc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use pjrt_sys::PJRT_Api;
use serde_json::{json, Value};

use crate::{command, program, read_json, text, Folder};

/// `plugins/deadly.rs`, compiled once.
fn deadly() -> &'static str {
    static LIBRARY: OnceLock<String> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let source: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "plugins", "deadly.rs"]
            .iter()
            .collect();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let own = folder.join(format!("libdeadly-{}.so", std::process::id()));
        let library = folder.join("libdeadly.so");
        let mut compile = Command::new(rustc);
        compile.args(["--edition", "2021", "--crate-type", "cdylib", "-O"]);
        let done = compile.arg(source).arg("-o").arg(&own).output();
        let done = done.expect("rustc");
        assert!(done.status.success(), "{}", text(&done.stderr));
        // Whole, whoever else compiles it now.
        std::fs::rename(&own, &library).expect("the same folder");
        library.to_str().expect("text").to_owned()
    })
}

/// `xla` on the plugin whose function at `offset` goes this way.
fn deadly_command(words: &[&str], offset: usize, way: &str) -> Command {
    let real = xla::PluginSearch::cpu();
    let (path, _) = real.found().expect("a plugin");
    let mut command = command(words);
    command
        .env("XLA_PJRT_CPU_PLUGIN", deadly())
        .env("DEADLY_PLUGIN", path)
        .env("DEADLY_OFFSET", offset.to_string())
        .env("DEADLY_WAY", way);
    command
}

/// The error of a command whose plugin dies.
#[track_caller]
fn death(words: &[&str], offset: usize, way: &str) -> Value {
    let words = [words, &["--json"]].concat();
    let told = deadly_command(&words, offset, way).output();
    let told = read_json(1, &words, &told.expect("starts"));
    assert_eq!(told["error"]["kind"], "died");
    told["error"].clone()
}

#[test]
fn a_plugin_may_die_in_any_command() {
    let add = program("add.mlir");
    let folder = Folder::new();
    let out = folder.path("step.xla");
    let arguments = ["--arg", "=ones", "--arg", "=ones"];
    let run = [&["run", &add], &arguments[..]].concat();
    let written = [&run[..], &["--out", &out]].concat();
    for (words, offset, way, doing) in [
        (
            &["doctor", "--platform", "cpu"][..],
            offset_of!(PJRT_Api, PJRT_Client_Create),
            "8",
            "making a client",
        ),
        (
            &["inspect", &add],
            offset_of!(PJRT_Api, PJRT_Plugin_Initialize),
            "6",
            "loading the plugin cpu",
        ),
        (
            &["inspect", &add],
            offset_of!(PJRT_Api, PJRT_Client_Compile),
            "11",
            "compiling PROGRAM",
        ),
        (
            &["compile", &add, "--out", &out],
            offset_of!(PJRT_Api, PJRT_Client_Compile),
            "8",
            "compiling PROGRAM",
        ),
        (
            &["compile", &add, "--out", &out],
            offset_of!(PJRT_Api, PJRT_Executable_Serialize),
            "9",
            "serialising PROGRAM",
        ),
        (
            &run,
            offset_of!(PJRT_Api, PJRT_Client_BufferFromHostBuffer),
            "4",
            "putting onto devices the arguments of PROGRAM",
        ),
        (
            &run,
            offset_of!(PJRT_Api, PJRT_LoadedExecutable_Execute),
            "11",
            "running PROGRAM",
        ),
        (
            &written,
            offset_of!(PJRT_Api, PJRT_Buffer_UnsafePointer),
            "6",
            "reading the outputs of PROGRAM",
        ),
    ] {
        let error = death(words, offset, way);
        let signal: i32 = way.parse().expect("a number");
        assert_eq!(error["signal"], signal, "{words:?}");
        assert_eq!(error["exit_code"], Value::Null);
        let doing = doing.replace("PROGRAM", &add);
        let told = error["doing"].as_str().expect("text");
        assert!(told.starts_with(&doing), "no `{doing}` at: {told}");
        // Before it is loaded, only the way to it is known.
        assert!(
            doing.contains("loading") || told.contains(deadly()),
            "{told}"
        );
        let message = error["message"].as_str().expect("text");
        assert!(message.contains(&format!("signal {signal}")), "{message}");
        // Nothing is left of what was to be written.
        assert_eq!(folder.names(), [""; 0], "{words:?}");
    }
    let error = death(&run, offset_of!(PJRT_Api, PJRT_Client_Compile), "exit");
    assert_eq!(
        (&error["exit_code"], &error["signal"]),
        (&json!(3), &Value::Null)
    );
}

#[test]
fn people_are_told_too() {
    let add = program("add.mlir");
    let offset = offset_of!(PJRT_Api, PJRT_Client_Compile);
    let told = deadly_command(&["inspect", &add], offset, "8").output();
    let told = told.expect("starts");
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stdout.is_empty(), "{}", text(&told.stdout));
    let err = text(&told.stderr);
    assert!(
        err.contains("error: ") && err.contains("SIGFPE") && err.contains(&add),
        "{err}"
    );
}

/// The doctor tells of all plugins, also of one that dies.
#[test]
fn doctor_outlives_its_plugins() {
    let offset = offset_of!(PJRT_Api, PJRT_Client_Create);
    for (way, part) in [
        ("8", "SIGFPE"),
        ("exit", "exit code 3"),
        ("hang", "no answer"),
    ] {
        let words = ["doctor", "--json"];
        let told = deadly_command(&words, offset, way).output();
        let told = read_json(1, &words, &told.expect("starts"));
        let cpu = &told["plugins"][0];
        assert_eq!(cpu["state"], "broken");
        let message = cpu["message"].as_str().expect("text");
        assert!(message.contains(part), "{message}");
        assert_eq!(told["plugins"].as_array().map(Vec::len), Some(4));
    }
    // One that prints is no worse than others, nor is one that has much to do.
    for way in ["print", "work"] {
        let words = ["doctor", "--json"];
        let told = deadly_command(&words, offset, way).output();
        let told = read_json(0, &words, &told.expect("starts"));
        assert_eq!(told["plugins"][0]["state"], "found");
    }
}

/// From another thread while the answer is sent, and when all is over.
#[test]
fn a_plugin_that_prints_spoils_nothing() {
    let folder = Folder::new();
    let many = "func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
        return %x : tensor<100000xf32> }";
    let many = folder.write("many.mlir", many);
    let words = ["run", &many, "--arg", "=iota", "--values", "--json"];
    let offset = offset_of!(PJRT_Api, PJRT_Client_Compile);
    let told = deadly_command(&words, offset, "print")
        .output()
        .expect("starts");
    let err = text(&told.stderr);
    let told = read_json(0, &words, &told);
    let values = told["outputs"][0]["values"].as_array().expect("a list");
    assert_eq!((values.len(), &values[99_999]), (100_000, &json!(99_999.0)));
    // It isn't lost.
    for part in ["\"before\"", "noise noise", "at exit"] {
        assert!(err.contains(part), "no {part}");
    }
    // What people read stays whole too.
    let words = ["run", &program("counter.mlir"), "--arg", "=41"];
    let told = deadly_command(&words, offset, "print")
        .output()
        .expect("starts");
    let out = text(&told.stdout);
    assert!(
        out.starts_with("output 0  ") && !out.contains("noise"),
        "{out}"
    );
}

/// Whoever reads stderr only when stdout has ended, as many do.
#[test]
fn what_a_plugin_prints_holds_up_no_answer() {
    let words = ["run", &program("counter.mlir"), "--arg", "=41", "--json"];
    let offset = offset_of!(PJRT_Api, PJRT_Client_Compile);
    let mut child = deadly_command(&words, offset, "chatter")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stderr = child.stderr.take().expect("piped");
    let (ended, end) = mpsc::channel::<()>();
    let reader = thread::spawn(move || {
        // Where that never comes, it is read all the same, so that there is a verdict.
        let _ = end.recv_timeout(Duration::from_secs(100));
        let mut err = Vec::new();
        stderr.read_to_end(&mut err).map(|_| err)
    });
    let mut out = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_to_string(&mut out).expect("text");
    drop(ended);
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(told["outputs"][0]["values"], json!([42.0]));
    assert!(child.wait().expect("ends").success());
    let err = reader.join().expect("no panic").expect("readable");
    assert!(text(&err).contains("noise noise"));
}

/// What real plugins do: a flag whose value they can't read ends the process, and another one
/// makes them print programs.
#[test]
fn real_plugins_die_and_print() {
    let add = program("add.mlir");
    let words = ["run", &add, "--arg", "=ones", "--arg", "=ones", "--json"];
    let told = command(&words)
        .env("XLA_FLAGS", "--xla_force_host_platform_device_count=many")
        .output();
    let told = read_json(1, &words, &told.expect("starts"));
    assert_eq!(told["error"]["kind"], "died");

    let told = command(&words)
        .env("XLA_FLAGS", "--xla_dump_to=- --xla_dump_hlo_as_text")
        .output()
        .expect("starts");
    assert!(text(&told.stderr).contains("HloModule"));
    let told = read_json(0, &words, &told);
    assert_eq!(told["outputs"][0]["values"], json!([2.0, 2.0, 2.0, 2.0]));
}

/// A command that is ended leaves no process behind.
#[cfg(target_os = "linux")]
#[test]
fn signals_end_the_worker_too() {
    use std::os::unix::process::CommandExt;
    let add = program("add.mlir");
    let words = ["inspect", &add];
    for (signal, to_group) in [("TERM", false), ("KILL", false), ("INT", true)] {
        let offset = offset_of!(PJRT_Api, PJRT_Client_Compile);
        let mut child = deadly_command(&words, offset, "hang")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("starts");
        // What the plugin prints comes through at once.
        let mut err = BufReader::new(child.stderr.take().expect("piped")).lines();
        let worker = err.find_map(|line| {
            let line = line.expect("text");
            Some(line.strip_prefix("hanging ")?.to_owned())
        });
        let worker = worker.expect("its number");
        let folder = PathBuf::from(format!("/proc/{worker}"));
        assert!(folder.exists());
        let group = if to_group { "-" } else { "" };
        let kill = Command::new("kill")
            .args([
                &format!("-{signal}"),
                "--",
                &format!("{group}{}", child.id()),
            ])
            .status();
        assert!(kill.expect("kill").success());
        assert!(!child.wait().expect("ends").success());
        let mut out = String::new();
        let mut stdout = child.stdout.take().expect("piped");
        stdout.read_to_string(&mut out).expect("text");
        assert_eq!(out, "");
        let deadline = Instant::now() + Duration::from_secs(60);
        while folder.exists() && !is_zombie(&folder) {
            assert!(
                Instant::now() < deadline,
                "the worker lives on after {signal}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Ended, and only waiting for init to notice.
#[cfg(target_os = "linux")]
fn is_zombie(folder: &std::path::Path) -> bool {
    let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}
