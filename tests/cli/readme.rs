//! What the README shows of the command line is what a user sees who types it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{text, Folder};

/// The commands of the session on the command line, each with what is shown below it.
fn session() -> Vec<(String, Vec<String>)> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).expect("there");
    let (_, rest) = readme.split_once("```console\n$ xla ").expect("a session");
    let (session, _) = rest.split_once("```").expect("its end");
    let commands = format!("xla {session}");
    let commands = commands.split("\n$ ").map(|part| {
        let mut lines = part.lines().map(str::to_owned);
        (lines.next().expect("a command"), lines.collect())
    });
    commands.collect()
}

/// Memory beside arguments and results is up to the compiler, which grows better.
fn stays(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    !["temp", "peak", "code", "wrote"].contains(&first)
}

#[test]
fn the_session_in_the_readme_is_true() {
    let folder = Folder::new();
    for program in ["sgd_step", "two_devices", "train_step_1"] {
        let file = format!("{program}.mlir");
        fs::copy(crate::program(&file), folder.path(&file)).expect("room");
    }
    let commands = session();
    assert_eq!(commands.len(), 3);
    for (command, shown) in commands {
        if command.contains("tpu:") && !cfg!(feature = "fetch-tpu") {
            continue;
        }
        let binaries = Path::new(env!("CARGO_BIN_EXE_xla")).parent();
        let path = std::env::var("PATH").expect("a path");
        let path = format!("{}:{path}", binaries.expect("a folder").display());
        let told = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path(""))
            .env("PATH", path)
            .env_remove("XLA_PJRT_COMPILE_CACHE")
            .output()
            .expect("a shell");
        let (out, err) = (text(&told.stdout), text(&told.stderr));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), shown.len(), "{command}\n{out}\n{err}");
        for (line, shown) in lines.iter().zip(&shown) {
            if stays(shown) {
                assert_eq!(line, shown, "{command}\n{out}");
            } else {
                let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
                assert_eq!(first(line), first(shown), "{command}\n{out}");
            }
        }
    }
    if cfg!(feature = "fetch-tpu") {
        let svg = fs::read_to_string(folder.path("memory.svg")).expect("drawn");
        assert!(svg.contains("without donation"));
    }
}
