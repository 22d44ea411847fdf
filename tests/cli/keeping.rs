//! The compile cache under the command line: folders that are full, read-only or shared, and
//! entries that are damaged, cost time at the most.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::{command, json as json_of, names_in, program, read_json, text, Folder};

/// `xla run` of a program with a cache in this folder, by `wrapper` where there is one.
fn run_with(dir: &str, wrapper: &[&str], more: &[&str]) -> Output {
    let add = program("add.mlir");
    let words = ["run", &add, "--arg", "=ones", "--arg", "=iota", "--json"];
    let words = [&words[..], more].concat();
    let mut started = match wrapper {
        [] => command(&words),
        [first, rest @ ..] => {
            let mut wrapped = Command::new(first);
            wrapped
                .args(rest)
                .arg(env!("CARGO_BIN_EXE_xla"))
                .args(&words);
            wrapped
        }
    };
    let started = started.env("XLA_PJRT_COMPILE_CACHE", dir);
    started.output().expect("starts")
}

/// The numbers are right all the same; gives what stands on stderr.
#[track_caller]
fn right(output: &Output) -> String {
    let told = read_json(0, &["run"], output);
    assert_eq!(told["outputs"][0]["values"], json!([1.0, 2.0, 3.0, 4.0]));
    text(&output.stderr)
}

/// What makes the permissions of files hold for root too.
fn bound_by_permissions() -> &'static [&'static str] {
    let id = Command::new("id").arg("-u").output().expect("id");
    match text(&id.stdout).trim() {
        "0" => &["setpriv", "--bounding-set=-dac_override,-dac_read_search"],
        _ => &["env"],
    }
}

#[test]
fn a_folder_that_is_read_only_costs_the_compilation() {
    let folder = Folder::new();
    let (dir, out) = (folder.path("cache"), folder.path("cache/out"));
    fs::create_dir(&dir).expect("room");
    let allow = |mode| fs::set_permissions(&dir, fs::Permissions::from_mode(mode));
    allow(0o555).expect("its owner may");
    let bound = bound_by_permissions();
    // Else the rest would show nothing.
    let touched = Command::new(bound[0])
        .args(&bound[1..])
        .args(["touch", &folder.path("cache/touched")])
        .stderr(Stdio::null())
        .status();
    assert!(
        !touched.expect("starts").success(),
        "the folder is writable"
    );
    let err = right(&run_with(&dir, bound, &[]));
    assert!(
        err.contains(&dir) && err.contains("Permission denied"),
        "{err}"
    );
    // Nor can anything else be written there, which is a failure then.
    for out in [&out, &dir] {
        let told = run_with("", bound, &["--out", out]);
        let told = read_json(1, &["run"], &told);
        let message = told["error"]["message"].as_str().expect("text");
        assert!(message.contains("Permission denied"), "{message}");
    }
    allow(0o755).expect("its owner may");
    assert_eq!(names_in(Path::new(&dir)), [""; 0]);
}

/// A disk without room, as a limit of what a process may write to a file.
#[test]
fn a_folder_that_is_full_costs_the_compilation() {
    let folder = Folder::new();
    let (dir, out) = (folder.path("cache"), folder.path("out"));
    // Half a kilobyte; the signal that comes with it is ignored.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let full = ["sh", "-c", script];
    let err = right(&run_with(&dir, &full, &[]));
    assert!(
        err.contains("warning") && err.contains("writing an entry"),
        "{err}"
    );
    assert_eq!(names_in(Path::new(&dir)), [""; 0]);

    // A file of outputs that is too large: neither it nor its folder is there.
    let many = "func.func @main(%x: tensor<2000xf32>) -> (tensor<f32>, tensor<2000xf32>) {
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        return %one, %x : tensor<f32>, tensor<2000xf32> }";
    let many = folder.write("many.mlir", many);
    let words = ["run", &many, "--arg", "=iota", "--out", &out, "--json"];
    let told = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_xla")])
        .args(words)
        .output()
        .expect("a shell");
    let told = read_json(1, &words, &told);
    let message = told["error"]["message"].as_str().expect("text");
    assert!(message.contains("output_1.npy"), "{message}");
    assert_eq!(folder.names(), ["cache", "many.mlir"]);
    // What somebody else has put there stays, with its folder.
    fs::create_dir(&out).expect("room");
    fs::write(folder.path("out/output_0.npy"), "before").expect("room");
    let told = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_xla")])
        .args(words)
        .output()
        .expect("a shell");
    read_json(1, &words, &told);
    assert_eq!(names_in(Path::new(&out)), ["output_0.npy"]);
    let left = fs::read(folder.path("out/output_0.npy"));
    assert_eq!(left.expect("there"), b"before");
}

#[test]
fn a_folder_of_everybody_is_told() {
    let folder = Folder::new();
    let dir = folder.path("cache");
    fs::create_dir(&dir).expect("room");
    let everybody = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&dir, everybody).expect("its owner may");
    let err = right(&run_with(&dir, &[], &[]));
    assert!(err.contains("everybody may write"), "{err}");
    assert_eq!(names_in(Path::new(&dir)), [""; 0]);
}

/// At once, and again when all is kept; one of them may clear it meanwhile.
#[test]
fn processes_share_a_folder() {
    let folder = Folder::new();
    let dir = folder.path("cache");
    let (add, counter) = (program("add.mlir"), program("counter.mlir"));
    let words = [
        &["run", &add, "--arg", "=ones", "--arg", "=iota"][..],
        &["run", &counter, "--arg", "=41"],
        &["cache", "verify", "--dir", &dir],
        &["cache", "rm", "--all", "--dir", &dir],
    ];
    for _ in 0..3 {
        let started: Vec<_> = (0..8)
            .map(|at| {
                let words = [words[at % words.len()], &["--json"]].concat();
                let mut started = command(&words);
                started.env("XLA_PJRT_COMPILE_CACHE", &dir);
                started.stdout(Stdio::piped()).stderr(Stdio::piped());
                (at, started.spawn().expect("starts"))
            })
            .collect();
        for (at, child) in started {
            let output = child.wait_with_output().expect("ends");
            let told = read_json(0, words[at % words.len()], &output);
            match at % words.len() {
                0 => assert_eq!(told["outputs"][0]["values"], json!([1.0, 2.0, 3.0, 4.0])),
                1 => assert_eq!(told["outputs"][0]["values"], json!([42.0])),
                _ => {}
            }
        }
    }
    right(&run_with(&dir, &[], &[]));
    assert_eq!(json_of(&["cache", "verify", "--dir", &dir])["whole"], true);
    assert!(names_in(Path::new(&dir))
        .iter()
        .all(|name| name.ends_with(".xla")));
}

/// Each part of an entry, cut and changed: it is told, compiled anew and replaced.
#[test]
fn damaged_entries_are_told_and_replaced() {
    let folder = Folder::new();
    let dir = folder.path("cache");
    right(&run_with(&dir, &[], &[]));
    let name = names_in(Path::new(&dir)).pop().expect("an entry");
    let path = Path::new(&dir).join(name);
    let whole = fs::read(&path).expect("readable");
    let header = 20 + u32::from_le_bytes(whole[8..12].try_into().expect("four")) as usize;
    let size = whole.len();
    let places = [0, 7, 8, 12, 20, header - 1, header, size - 1];
    let cut = places.iter().map(|at| whole[..*at].to_vec());
    let flipped = places.iter().map(|at| {
        let mut bytes = whole.clone();
        bytes[*at] ^= 1;
        bytes
    });
    for bytes in cut.chain(flipped).chain([vec![0; size], vec![7; 100]]) {
        fs::write(&path, bytes).expect("room");
        let words = ["cache", "verify", "--dir", &dir, "--json"];
        let told = command(&words).output().expect("starts");
        let told = read_json(1, &words, &told);
        assert_eq!(told["whole"], false);
        let error = told["entries"][0]["error"].as_str().expect("text");
        assert!(!error.is_empty() && !error.contains('\n'), "{error}");
        let err = right(&run_with(&dir, &[], &[]));
        assert!(err.contains("warning: the entry"), "{err}");
        let replaced = fs::read(&path).expect("there");
        assert_eq!(replaced.len(), size);
        let words = ["cache", "verify", "--dir", &dir];
        assert_eq!(json_of(&words)["whole"], true);
    }
}
