//! Entries as files: written whole, read by whoever, gone at any time.
//!
//! Several processes share a folder without locks. A file is written under a name of its
//! own and then renamed, so an entry is there whole or not at all; two that write the same
//! one put equal files in each other's place. A file that is removed while another process
//! reads it stays readable there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How the names of entries end.
const ENDING: &str = ".xla";

/// How the names of files begin that are being written.
const WRITING: &str = ".writing-";

/// A file that is being written for longer belongs to a process that ended meanwhile.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A file with an entry's name.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) key: String,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
}

pub(super) fn path_of(dir: &Path, key: &str) -> PathBuf {
    dir.join(format!("{key}{ENDING}"))
}

/// Whether this is the hexadecimal form of a key.
pub(super) fn is_key(text: &str) -> bool {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == 64 && text.bytes().all(digit)
}

/// The bytes of an entry; `None` where there is none. It counts as used now.
pub(super) fn read(dir: &Path, key: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let path = path_of(dir, key);
    let Some(mut file) = open(&path)? else {
        return Ok(None);
    };
    let length = file.metadata()?.len();
    if length > most {
        return Err(io::Error::other(format!(
            "{} has {length} bytes, more than all entries together may have",
            path.display()
        )));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // Where that isn't allowed, the entry is as old as it is written.
    let _ = file.set_modified(SystemTime::now());
    Ok(Some(bytes))
}

/// The first bytes of an entry, up to the end that they state.
pub(super) fn read_start(
    dir: &Path,
    key: &str,
    first: usize,
    end: impl FnOnce(&[u8]) -> Option<usize>,
) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = open(&path_of(dir, key))? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    (&mut file).take(first as u64).read_to_end(&mut bytes)?;
    if let Some(more) = end(&bytes).and_then(|end| end.checked_sub(bytes.len())) {
        (&mut file).take(more as u64).read_to_end(&mut bytes)?;
    }
    Ok(Some(bytes))
}

/// A file of our own; what a link leads to is not.
fn open(path: &Path) -> io::Result<Option<File>> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        found => found?,
    };
    if !found.is_file() {
        return Err(io::Error::other(format!(
            "{} is no file, and is not followed",
            path.display()
        )));
    }
    match File::open(path) {
        Err(error) if is_absent(&error) => Ok(None),
        file => file.map(Some),
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Makes the folder where it is missing, for its owner alone: what lies in it is run.
pub(super) fn make(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Refuses a folder into which everybody may put what is then run here.
#[cfg(unix)]
pub(super) fn check(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::metadata(dir) {
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.permissions().mode() & 0o002 != 0 => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "everybody may write into {}; a compile cache holds code, so take a folder of your own",
                dir.display()
            ),
        )),
        Ok(_) => Ok(()),
    }
}

/// Refuses a folder into which everybody may put what is then run here.
#[cfg(not(unix))]
pub(super) fn check(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Puts an entry into the folder, in the place of one that is there.
pub(super) fn write(dir: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
    make(dir)?;
    let (mut file, path) = create(dir)?;
    let written = fill(&mut file, bytes);
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&path, path_of(dir, key)));
    if renamed.is_err() {
        // It may be the disk that is full.
        let _ = fs::remove_file(&path);
    }
    renamed
}

fn fill(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    // Finer than what the system notes.
    file.set_modified(SystemTime::now())?;
    // Else a power failure may leave the name without the bytes.
    file.sync_all()
}

/// A new file that nobody else writes. Processes in containers may have one number, so it
/// takes what the system says for the truth.
fn create(dir: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{WRITING}{process}-{count}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((file?, path)),
        }
    }
}

/// All files with an entry's name, the one that was used last at the end.
pub(super) fn entries(dir: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    walk(dir, |name, data| {
        let key = name.strip_suffix(ENDING).filter(|key| is_key(key));
        if let (Some(key), true) = (key, data.is_file()) {
            found.push(Found {
                key: key.to_owned(),
                bytes: data.len(),
                used: data.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            });
        }
        Ok(())
    })?;
    found.sort_by(|one, other| (one.used, &one.key).cmp(&(other.used, &other.key)));
    Ok(found)
}

/// Removes what a process that ended has left half-written; with `all` also what is being
/// written now.
pub(super) fn sweep(dir: &Path, all: bool) -> io::Result<()> {
    let now = SystemTime::now();
    walk(dir, |name, data| {
        if !name.starts_with(WRITING) || !data.is_file() {
            return Ok(());
        }
        let age = data
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok());
        if all || age.is_some_and(|age| age > ABANDONED) {
            remove_file(&dir.join(name))?;
        }
        Ok(())
    })
}

/// Every file's name, where it is text, and what the system says of it.
fn walk(dir: &Path, mut each: impl FnMut(&str, &fs::Metadata) -> io::Result<()>) -> io::Result<()> {
    let list = match fs::read_dir(dir) {
        Err(error) if is_absent(&error) => return Ok(()),
        list => list?,
    };
    for entry in list {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        // Of the link itself, where it is one.
        match entry.metadata() {
            Err(error) if is_absent(&error) => {}
            data => each(name, &data?)?,
        }
    }
    Ok(())
}

/// Whether there was one.
pub(super) fn remove(dir: &Path, key: &str) -> io::Result<bool> {
    remove_file(&path_of(dir, key))
}

fn remove_file(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if is_absent(&error) => Ok(false),
        removed => removed.map(|()| true),
    }
}
