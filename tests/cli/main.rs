//! The command line: it is run as users run it, and what it prints is read as JSON.
//!
//! Targets that aren't there are compiled for with the features `fetch-tpu` and `fetch-cuda`.
//! The plugin is the one that `XLA_PJRT_CPU_PLUGIN` or the usual search finds.

mod commands;
/// The example's images.
#[cfg(feature = "fetch-cpu")]
#[allow(dead_code)]
#[path = "../../examples/train_mnist/data.rs"]
mod data;
/// Shared with the library's tests of advice.
#[path = "../donations/mod.rs"]
mod donations;
#[cfg(unix)]
mod dying;
mod examples;
#[path = "../hlo/mod.rs"]
mod hlo;
#[cfg(unix)]
mod keeping;
mod large;
mod lessons;
mod not_compiled;
mod npy;
#[cfg(unix)]
mod readme;
mod refusals;
mod running;
#[cfg(any(feature = "fetch-tpu", feature = "fetch-cuda"))]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// `xla` with these words, and no compile cache but the one that a test sets.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xla"));
    command.args(words).env_remove("XLA_PJRT_COMPILE_CACHE");
    command
}

fn output(words: &[&str]) -> Output {
    command(words).output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The one JSON object of a command that ended with this exit code.
#[track_caller]
fn json_with(code: i32, words: &[&str]) -> Value {
    let words = [words, &["--json"]].concat();
    read_json(code, &words, &output(&words))
}

#[track_caller]
fn read_json(code: i32, words: &[&str], output: &Output) -> Value {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{out}\n{err}");
    let json: Value = serde_json::from_str(&out)
        .unwrap_or_else(|error| panic!("{words:?} is no JSON: {error}\n{out}\n{err}"));
    assert!(json.is_object(), "{words:?} gave {json}");
    json
}

/// The JSON of a command that went right.
#[track_caller]
fn json(words: &[&str]) -> Value {
    json_with(0, words)
}

/// The message of a command that ended with this exit code; it stands on stderr too.
#[track_caller]
fn refused(code: i32, words: &[&str], parts: &[&str]) -> String {
    let told = json_with(code, words);
    let message = told["error"]["message"].as_str().expect("a message");
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    let kind = if code == 2 { "usage" } else { "refused" };
    assert_eq!(told["error"]["kind"], kind);
    let plain = output(words);
    assert_eq!(plain.status.code(), Some(code));
    assert!(plain.stdout.is_empty(), "{}", text(&plain.stdout));
    let err = text(&plain.stderr);
    // How the command is used is told with the options at hand.
    let first = message.lines().next().unwrap_or_default();
    assert!(err.contains(first), "{err}");
    message.to_owned()
}

/// The path of a program of the examples.
fn program(file: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "examples", "programs", file]
        .iter()
        .collect();
    path.to_str().expect("text").to_owned()
}

/// The oracle's numbers.
fn oracle(file: &str) -> Value {
    let text = fs::read(program(&format!("oracle/{file}.json"))).expect("there");
    serde_json::from_slice(&text).expect("JSON")
}

/// Numbers of a JSON list; truth values are 0 and 1.
#[track_caller]
fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    let number = |value: &Value| match value {
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        other => other.as_f64().expect("a number"),
    };
    list.iter().map(number).collect()
}

/// Values as they are written on the command line.
fn listed(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(f64::to_string).collect();
    format!("={}", texts.join(","))
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("xla-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a new folder");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("text").to_owned()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), bytes).expect("room");
        self.path(name)
    }

    /// The names of what lies in it.
    fn names(&self) -> Vec<String> {
        names_in(&self.0)
    }
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a folder");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names.map(|it| it.into_string().expect("text")).collect();
    names.sort();
    names
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
