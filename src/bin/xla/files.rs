//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::report::Failure;

/// Writes files, each under another name first: where one can't be written, none of them
/// appears, and those that were there stay as they were.
pub(crate) fn write(files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let paths: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
    let targets = check(&paths)?;
    let mut written = Vec::new();
    let outcome = files
        .iter()
        .zip(&targets)
        .try_for_each(|((path, bytes), target)| {
            let (mut file, beside) = create_beside(target).map_err(|error| failed(path, &error))?;
            written.push((beside, path, target));
            let whole = file.write_all(bytes).and_then(|()| file.sync_all());
            whole.map_err(|error| failed(path, &error))
        });
    let outcome = outcome.and_then(|()| {
        let mut renames = written.iter();
        renames.try_for_each(|(beside, path, target)| {
            fs::rename(beside, target).map_err(|error| failed(path, &error))
        })
    });
    if outcome.is_err() {
        for (beside, ..) in &written {
            // Those that were renamed aren't there.
            let _ = fs::remove_file(beside);
        }
    }
    outcome
}

/// Writes files into a folder, which is made where it is missing; where one can't be written,
/// it is missing again.
pub(crate) fn write_into(
    dir: &Path,
    files: Vec<(String, Vec<u8>)>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut made = Vec::new();
    let files = files
        .iter()
        .map(|(name, bytes)| (dir.join(name), bytes.clone()));
    let files: Vec<(PathBuf, Vec<u8>)> = files.collect();
    let outcome = make_folder(dir, &mut made).and_then(|()| write(&files));
    if outcome.is_err() {
        for folder in made.iter().rev() {
            // One that somebody else has put something into isn't empty, and stays.
            let _ = fs::remove_dir(folder);
        }
    }
    outcome.map(|()| files.into_iter().map(|(path, _)| path).collect())
}

/// Refuses paths to which no file can be written, before any time is spent. Gives the files
/// that they lead to, links followed: a link is not replaced, and neither is what is no file.
pub(crate) fn check(paths: &[&Path]) -> Result<Vec<PathBuf>, Failure> {
    let mut targets: Vec<PathBuf> = Vec::new();
    for path in paths {
        let target = target(path)?;
        if targets.contains(&target) {
            let path = path.display();
            return Err(Failure::refused(format!(
                "writing {path}: it is named twice"
            )));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn target(path: &Path) -> Result<PathBuf, Failure> {
    let refused = |why: &str| {
        let path = path.display();
        Err(Failure::refused(format!("writing {path}: {why}")))
    };
    match fs::metadata(path) {
        Ok(data) if data.is_file() => path.canonicalize().map_err(|error| failed(path, &error)),
        Ok(data) if data.is_dir() => refused("it is a folder"),
        Ok(_) => refused("it is a device or a pipe, and no file"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(name) = path.file_name() else {
                return refused("that names no file");
            };
            if path.is_symlink() {
                return refused("it is a link that leads nowhere");
            }
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            let folder = folder
                .canonicalize()
                .map_err(|error| failed(path, &error))?;
            Ok(folder.join(name))
        }
        Err(error) => Err(failed(path, &error)),
    }
}

/// A new file that nobody else writes, in the same folder, so that renaming stays within a file
/// system. An earlier process, or one in another container, may have this one's number.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().unwrap_or_default();
    for count in 0u64.. {
        let mut beside = OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}-{count}.part", process::id()));
        let path = target.with_file_name(beside);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((file?, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes a folder and those above it, and notes each that wasn't there.
fn make_folder(path: &Path, made: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => made.push(folder.to_owned()),
            // By another process, or there is `..` in the path.
            Err(_) if folder.is_dir() => {}
            Err(error) => {
                let path = path.display();
                return Err(Failure::refused(format!(
                    "making the folder {path}: {error}"
                )));
            }
        }
    }
    match path.is_dir() {
        true => Ok(()),
        false => Err(Failure::refused(format!(
            "making the folder {}: a file of this name is there",
            path.display()
        ))),
    }
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

/// The bytes of a file, of which no more than the first are read if they are not as they should
/// be: what they are not may have no end.
pub(crate) fn read_if(path: &Path, begins: impl FnOnce(&[u8]) -> bool) -> Result<Vec<u8>, Failure> {
    let unreadable = |error| unreadable(path, &error);
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let mut first = Read::by_ref(&mut file).take(FIRST);
    first.read_to_end(&mut bytes).map_err(unreadable)?;
    if begins(&bytes) {
        file.read_to_end(&mut bytes).map_err(unreadable)?;
    }
    Ok(bytes)
}

/// How many bytes tell a form.
const FIRST: u64 = 64;

/// The first bytes of a file, by which a form is told.
pub(crate) fn beginning(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut first = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(FIRST)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_process_left_is_in_nobody_s_way() {
        let folder = std::env::temp_dir().join(format!("xla-files-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder");
        let target = folder.join("out.npy");
        // As if those had this process's number.
        let left = [(); 2].map(|()| create_beside(&target).expect("a file").1);
        for content in [b"one".to_vec(), b"two".to_vec()] {
            let Ok(()) = write(&[(target.clone(), content.clone())]) else {
                panic!("it isn't written");
            };
            assert_eq!(fs::read(&target).expect("it is there"), content);
        }
        // Another process may be at it.
        assert!(left[0] != left[1] && left.iter().all(|path| path.exists()));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 3);
        fs::remove_dir_all(&folder).expect("cleared");
    }
}
