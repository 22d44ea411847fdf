//! Files that are there whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::report::Failure;

/// Writes files, each under another name first: where one can't be written, none of them
/// appears.
pub(crate) fn write(files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let mut written = Vec::new();
    let outcome = files.iter().try_for_each(|(path, bytes)| {
        let beside = name_beside(path)?;
        written.push((beside.clone(), path));
        write_new(&beside, bytes).map_err(|error| failed(path, &error))
    });
    let outcome = outcome.and_then(|()| {
        let mut renames = written.iter();
        renames.try_for_each(|(beside, path)| {
            fs::rename(beside, path).map_err(|error| failed(path, &error))
        })
    });
    if outcome.is_err() {
        for (beside, _) in &written {
            // Those that were renamed, or never made, aren't there.
            let _ = fs::remove_file(beside);
        }
    }
    outcome
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A name in the same folder, so that renaming stays within a file system.
fn name_beside(path: &Path) -> Result<PathBuf, Failure> {
    let Some(name) = path.file_name() else {
        return Err(Failure::refused(format!(
            "writing {}: that names no file",
            path.display()
        )));
    };
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.part", process::id()));
    Ok(path.with_file_name(beside))
}

/// A folder that is there, or is made.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path)
        .map_err(|error| Failure::refused(format!("making the folder {}: {error}", path.display())))
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

/// The first bytes of a file, by which a form is told.
pub(crate) fn beginning(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut first = Vec::new();
    let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(64)
        .read_to_end(&mut first)
        .map_err(|error| unreadable(path, &error))?;
    Ok(first)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::refused(format!("reading {}: {error}", path.display()))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::refused(format!("writing {}: {error}", path.display()))
}
