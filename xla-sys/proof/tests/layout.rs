//! The official header of API 0.81 agrees with `pjrt_sys`, as the C compiler sees it.
//!
//! The header comes with the oldest CPU plugin, which the feature `fetch-skew` fetches.
#![cfg(feature = "fetch-skew")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use pjrt_sys::layout;
use xla_pjrt_sys_proof::{claims, source, Claim};

/// The API minor of the header in the wheel.
const MINOR: u32 = 81;
const WHEEL: &str = "xla-cpu-pjrt-";
const CORE: &str = "pjrt_c_api.h";

/// Every file under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// The headers in the wheel that `pjrt_sys` covers.
fn headers() -> Vec<PathBuf> {
    let cache = xla::cache_dir().expect("a folder for fetched wheels is known");
    let covered: BTreeSet<&str> = layout::structs().map(|s| s.header).collect();
    let mut headers = files(&cache);
    headers.retain(|path| {
        let of_wheel = path
            .strip_prefix(&cache)
            .is_ok_and(|inside| inside.to_string_lossy().starts_with(WHEEL));
        of_wheel && covered.contains(file_name(path))
    });
    assert!(
        headers.iter().any(|path| file_name(path) == CORE),
        "no {CORE} in a folder {WHEEL}* of {}",
        cache.display()
    );
    headers
}

fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Lets the C compiler check claims about a header, under a file name of its own.
fn compile(header: &Path, claims: &[Claim], name: &str) -> Output {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, source(file_name(header), claims)).expect("write the C file");
    let mut compiler = cc::Build::new()
        .target(env!("TARGET"))
        .host(env!("TARGET"))
        .opt_level(0)
        .cargo_metadata(false)
        .get_compiler()
        .to_command();
    compiler
        .args(["-std=c11", "-fsyntax-only", "-I"])
        .arg(header.parent().expect("a folder"));
    compiler.arg(file).output().expect("run the C compiler")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_layout_is_that_of_the_official_header() {
    for header in headers() {
        let name = file_name(&header);
        let mut all = claims(name, MINOR);
        if name == CORE {
            assert!(all.len() > 1000, "only {} claims about {name}", all.len());
            let minor = format!("PJRT_API_MAJOR == 0 && PJRT_API_MINOR == {MINOR}");
            all.push(Claim {
                meaning: minor.clone(),
                expression: minor,
            });
        }
        let output = compile(&header, &all, &format!("{name}.proof.c"));
        assert!(output.status.success(), "{}", stderr(&output));
        println!("{name}: {} claims hold", all.len());
    }
}

/// A proof that can't fail proves nothing: one false claim of each kind, alone among the true ones.
#[test]
fn a_false_claim_is_refused() {
    let headers = headers();
    let header = headers
        .iter()
        .find(|path| file_name(path) == CORE)
        .expect("the core header");
    let truth = claims(CORE, MINOR);
    let falsehoods = [
        ("sizeof(PJRT_Api) == 984", "sizeof(PJRT_Api) == 976"),
        ("_Alignof(PJRT_Api) == 8", "_Alignof(PJRT_Api) == 4"),
        ("PJRT_Event_IsReady_Args_STRUCT_SIZE == 25", "PJRT_Event_IsReady_Args_STRUCT_SIZE == 32"),
        ("offsetof(PJRT_NamedValue, value_size) == 48", "offsetof(PJRT_NamedValue, value_size) == 40"),
        ("sizeof(((PJRT_Program*)0)->code_size) == 8", "sizeof(((PJRT_Program*)0)->code_size) == 4"),
        ("PJRT_Buffer_Type_F32 == 11", "PJRT_Buffer_Type_F32 == 12"),
        (
            "_Generic(((PJRT_Api*)0)->PJRT_Compile, PJRT_Error* (*)(PJRT_Compile_Args*): 1, default: 0)",
            "_Generic(((PJRT_Api*)0)->PJRT_Compile, void (*)(PJRT_Compile_Args*): 1, default: 0)",
        ),
    ];
    for (number, (right, wrong)) in falsehoods.into_iter().enumerate() {
        let mut claims = truth.clone();
        let claim = claims.iter_mut().find(|claim| claim.expression == right);
        let claim = claim.unwrap_or_else(|| panic!("nothing claims {right}"));
        *claim = Claim {
            expression: wrong.to_owned(),
            meaning: "a false claim".to_owned(),
        };
        let output = compile(header, &claims, &format!("false-{number}.c"));
        let message = stderr(&output);
        assert!(!output.status.success(), "the compiler took {wrong}");
        let refusals = message.lines().filter(|line| line.contains("error"));
        assert_eq!(refusals.count(), 1, "{message}");
        assert!(message.contains("a false claim"), "{message}");
    }
}

/// The other direction: nothing that the header declares is missing in `pjrt_sys`.
#[test]
fn every_struct_of_the_official_header_is_there() {
    let known: BTreeSet<&str> = layout::structs().map(|s| s.name).collect();
    for header in headers() {
        let text = fs::read_to_string(&header).expect("read the header");
        let calls = text.split("PJRT_DEFINE_STRUCT_TRAITS(").skip(1);
        let names = calls.filter_map(|rest| rest.split(',').next());
        // The first is the macro's own definition.
        let declared: Vec<&str> = names
            .map(str::trim)
            .filter(|name| *name != "sname")
            .collect();
        assert!(declared.len() > 100, "only {} structs seen", declared.len());
        let missing: Vec<_> = declared
            .iter()
            .filter(|name| !known.contains(**name))
            .collect();
        assert!(missing.is_empty(), "missing: {missing:?}");
    }
}
