//! What must not compile does not, and rustc says why in these words.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The rustc whose messages are pinned.
const RUSTC: &str = "1.95.0";

#[test]
fn misuse_does_not_compile() {
    lay_programs();
    let rustc = rustc_version();
    if rustc == RUSTC {
        trybuild::TestCases::new().compile_fail("cases/*.rs");
        return;
    }
    // Another rustc has other words: every case must fail, with whatever message.
    let copies = copy_cases();
    env::set_var("TRYBUILD", "overwrite");
    trybuild::TestCases::new().compile_fail(copies.join("*.rs").display().to_string());
    let differ = names(Path::new("cases"), "stderr")
        .into_iter()
        .filter(|name| {
            let message = |folder: &Path| {
                fs::read_to_string(folder.join(name).with_extension("stderr")).expect("a message")
            };
            codes(&message(Path::new("cases"))) != codes(&message(&copies))
        });
    let differ: Vec<String> = differ.collect();
    tell(&format!(
        "Every misuse fails to compile, but the messages were not compared: the pinned ones are of \
         rustc {RUSTC}, and this is rustc {rustc}. With another error code: {differ:?}"
    ));
}

#[test]
fn every_case_has_its_message_and_its_right_way() {
    let cases = names(Path::new("cases"), "rs");
    assert_eq!(cases, names(Path::new("cases"), "stderr"));
    let mut right = names(Path::new("cases/right"), "rs");
    right.remove("main");
    let missing: Vec<&String> = cases.difference(&right).collect();
    assert!(missing.is_empty(), "without a right way: {missing:?}");
    let run = fs::read_to_string("cases/right/main.rs").expect("the list of right ways");
    for name in &right {
        assert!(
            run.contains(&format!("\nmod {name};\n")),
            "{name} isn't run"
        );
    }
    for name in &cases {
        let text = fs::read_to_string(format!("cases/{name}.rs")).expect("a case");
        // A public report, a fact of the runtime, or what is likely to be tried.
        let kinds = ["// Reported: ", "// Measured: ", "// Foreseen: "];
        let told = kinds.iter().any(|kind| text.starts_with(kind));
        assert!(
            told && text.contains("\n// rustc: "),
            "{name} tells nothing"
        );
        let message = fs::read_to_string(format!("cases/{name}.stderr")).expect("a message");
        let (head, _) = text.split_once("\nuse ").expect("comments, then code");
        assert_eq!(codes(head), codes(&message), "{name} tells another error");
    }
}

/// Whether a message shows source of the standard library depends on whether that is installed.
#[test]
fn messages_stay_out_of_the_standard_library() {
    for name in names(Path::new("cases"), "stderr") {
        let text = fs::read_to_string(format!("cases/{name}.stderr")).expect("a message");
        assert!(
            !text.contains("$RUST") && !text.contains("$CARGO"),
            "{name}"
        );
    }
}

/// The names of a folder's files with this extension.
fn names(folder: &Path, extension: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("a folder of cases");
    let paths = files.map(|file| file.expect("a file").path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|known| known == extension));
    wanted
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect()
}

/// The error codes in a text, such as `E0382`.
fn codes(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 5 && word.starts_with("E0"))
        .collect()
}

/// Lays the programs where the macro looks for them: the cases are compiled in a package that
/// trybuild makes.
fn lay_programs() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let package = target
        .expect("a folder in the target folder")
        .join("tests/trybuild")
        .join(env!("CARGO_PKG_NAME"));
    fs::create_dir_all(package.join("programs")).expect("a folder for programs");
    for name in names(Path::new("programs"), "mlir") {
        let file = Path::new("programs").join(name).with_extension("mlir");
        fs::copy(&file, package.join(&file)).expect("a copy");
    }
}

/// Copies the cases to where their messages may be written over.
fn copy_cases() -> PathBuf {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    if copies.exists() {
        fs::remove_dir_all(&copies).expect("the copies of before go away");
    }
    fs::create_dir_all(&copies).expect("a folder for copies");
    for extension in ["rs", "stderr"] {
        for name in names(Path::new("cases"), extension) {
            let file = format!("{name}.{extension}");
            fs::copy(Path::new("cases").join(&file), copies.join(&file)).expect("a copy");
        }
    }
    copies
}

fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let release = told.lines().find_map(|line| line.strip_prefix("release: "));
    release.expect("rustc tells its release").to_owned()
}

/// Past the test harness, which would keep it to itself.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "\n{line}\n");
}
