//! `xla-pjrt-abi-diff HEADER_OR_FOLDER.. [-- CLANG_ARGUMENT..]`
//!
//! Exit status: 0 if nothing differs, 1 if something does, 2 if it can't be told.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use pjrt_sys::API_MINOR;
use xla_pjrt_abi_diff::{differences, find_headers, Abi};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Prints the differences and counts them.
fn run(arguments: &[String]) -> Result<usize> {
    let mut parts = arguments.splitn(2, |argument| argument == "--");
    let paths = parts.next().unwrap_or_default();
    let clang = parts.next().unwrap_or_default();
    ensure!(
        !paths.is_empty(),
        "usage: xla-pjrt-abi-diff HEADER_OR_FOLDER.. [-- CLANG_ARGUMENT..]"
    );
    let mut headers = Vec::new();
    for path in paths {
        headers.extend(find_headers(Path::new(path))?);
    }
    let theirs = Abi::of_headers(&headers, clang)?;
    let known = u32::try_from(API_MINOR)?;
    let minor = theirs.minor.unwrap_or(known);
    let names = headers.iter().filter_map(|path| path.file_name()?.to_str());
    let (must, may) = Abi::ours(names, minor);
    let found = differences(&must, &may, &theirs);
    for difference in &found {
        println!("{difference}");
    }
    eprintln!(
        "{} differences between API 0.{minor} in {} headers and what is known up to 0.{known}",
        found.len(),
        headers.len()
    );
    Ok(found.len())
}
