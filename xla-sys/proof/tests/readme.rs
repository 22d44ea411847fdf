//! The coverage tables in the README of `pjrt_sys` say what the safe layer really uses.
//!
//! With `UPDATE_README=1` in the environment, the test writes the tables instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pjrt_sys::layout;

const BEGIN: &str = "<!-- The tables below are written by a test. -->\n";

/// Every identifier in the code under a folder; comments and texts don't count.
fn identifiers(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("read the folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            identifiers(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("read the file");
            let code = text.lines().filter_map(|line| line.split("//").next());
            let code = code.flat_map(|line| line.split('"').step_by(2));
            let words =
                code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
            into.extend(
                words
                    .filter(|word| word.starts_with("PJRT_"))
                    .map(str::to_owned),
            );
        }
    }
}

fn since(minor: u32) -> String {
    match minor {
        54 => "≤ 0.54".to_owned(),
        minor => format!("0.{minor}"),
    }
}

fn tables(used: &BTreeSet<String>) -> String {
    let tick = |name: &str| if used.contains(name) { "✓" } else { "" };
    let functions: Vec<_> = layout::functions().collect();
    let ticked = functions.iter().filter(|f| used.contains(f.name)).count();
    let mut text = format!(
        "\n## The table\n\nThe safe layer uses {ticked} of {} entries.\n\n\
         | Entry | Since | Used | What it does |\n|---|---|:-:|---|\n",
        functions.len()
    );
    for f in &functions {
        let doc = f.doc.trim();
        text += &format!(
            "| `{}` | {} | {} | {doc} |\n",
            f.name,
            since(f.since),
            tick(f.name)
        );
    }
    text += "\n## Extensions\n\n| Extension | Header | Used |\n|---|---|:-:|\n";
    for s in layout::structs().filter(|s| s.fields[0].name == "base") {
        text += &format!("| `{}` | `{}` | {} |\n", s.name, s.header, tick(s.name));
    }
    text
}

#[test]
fn the_readme_tells_what_is_covered() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../README.md");
    let mut used = BTreeSet::new();
    identifiers(&here.join("../../src/pjrt"), &mut used);
    let readme = fs::read_to_string(&path).expect("read the README");
    let (prose, old) = readme
        .split_once(BEGIN)
        .expect("the README has a place for the tables");
    let new = tables(&used);
    if std::env::var_os("UPDATE_README").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{prose}{BEGIN}{new}")).expect("write the README");
    } else {
        let stale: Vec<&str> = new.lines().filter(|line| !old.contains(*line)).collect();
        assert!(
            old == new,
            "the coverage tables are stale; to write them anew: \
             UPDATE_README=1 cargo test -p xla-pjrt-sys-proof --test readme\n{}",
            stale.join("\n")
        );
    }
}
