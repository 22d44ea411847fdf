//! Finds headers and reads them, by way of `bindgen`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use pjrt_sys::layout;

/// The headers that a path stands for: itself, or those of the API in a folder.
pub fn find(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        ensure!(path.is_file(), "there is no file {}", path.display());
        return Ok(vec![path.to_owned()]);
    }
    let known: BTreeSet<&str> = layout::structs().map(|s| s.header).collect();
    let entries = fs::read_dir(path).with_context(|| format!("listing {}", path.display()))?;
    let mut headers: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    headers.retain(|path| {
        let name = file_name(path);
        known.contains(name) || name.ends_with("_extension.h")
    });
    headers.sort();
    ensure!(
        !headers.is_empty(),
        "no header of the API in {}",
        path.display()
    );
    Ok(headers)
}

/// The last part of a path.
pub fn file_name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(feature = "libclang")]
impl crate::Abi {
    /// What headers declare. Further arguments go to clang. Without libclang, bindgen panics and says so.
    pub fn of_headers(headers: &[PathBuf], clang: &[String]) -> Result<Self> {
        let mut builder = bindgen::Builder::default()
            .derive_debug(false)
            .generate_comments(false)
            .prepend_enum_name(false)
            .formatter(bindgen::Formatter::None)
            .clang_args(clang);
        for header in headers {
            let text = header.to_str().context("a path that isn't UTF-8")?;
            builder = builder.header(text);
            builder = builder.clang_args(root(header).map(|root| format!("-I{root}")));
        }
        let bindings = builder.generate().context("reading the headers")?;
        crate::read_bindings(&bindings.to_string())
    }
}

/// The folder that upstream's includes start at: the one above `xla`.
#[cfg(any(feature = "libclang", test))]
fn root(header: &Path) -> Option<&str> {
    let mut above = header
        .ancestors()
        .skip_while(|path| file_name(path) != "xla");
    let root = above.nth(1)?.to_str()?;
    Some(if root.is_empty() { "." } else { root })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_start_above_the_folder_xla() {
        assert_eq!(root(Path::new("src/xla/pjrt/c/pjrt_c_api.h")), Some("src"));
        assert_eq!(root(Path::new("xla/pjrt/c/pjrt_c_api.h")), Some("."));
        assert_eq!(root(Path::new("include/pjrt_c_api.h")), None);
    }

    #[test]
    fn a_path_to_nothing_is_an_error() {
        let error = find(Path::new("no/such/header.h")).expect_err("nothing is there");
        assert!(error.to_string().contains("no/such/header.h"));
    }
}
