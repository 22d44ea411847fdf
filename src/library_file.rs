//! Whether a file is a whole shared library for this machine, asked before the loader maps it.
//!
//! The loader maps a file as its headers describe it. If the file ends before that, after a download that broke off say, the first
//! access to a missing page kills the process. So the headers are read here first and compared with the size of the file.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use crate::serialized::checksum;

/// Why a file cannot be loaded as a shared library.
#[derive(Debug)]
pub(crate) enum LibraryFileError {
    /// Nothing is at this path.
    NoFile,
    /// Something is at this path, but not a file.
    NotAFile,
    /// The system does not let us look.
    Unreadable(io::Error),
    /// A file, but not a shared library.
    NotALibrary {
        /// What it is instead, or what it lacks.
        what: &'static str,
    },
    /// The file ends before its content does.
    Truncated {
        /// The size in bytes up to which the headers speak of content.
        needs: u64,
        /// The size of the file in bytes.
        has: u64,
    },
    /// A library for another kind of machine.
    ForeignMachine {
        /// What the library was built for.
        built_for: String,
        /// What this program runs on.
        ours: &'static str,
    },
}

impl fmt::Display for LibraryFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => write!(f, "no such file"),
            Self::NotAFile => write!(f, "not a file"),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::NotALibrary { what } => write!(f, "not a shared library: {what}"),
            Self::Truncated { needs, has } => write!(
                f,
                "cut short: {has} bytes are there of {needs} at least, perhaps after a download that broke off"
            ),
            Self::ForeignMachine { built_for, ours } => {
                write!(f, "built for {built_for}, but this machine is {ours}")
            }
        }
    }
}

impl std::error::Error for LibraryFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// Checks that the file at `path` is a shared library which the loader can map as a whole.
///
/// The content is looked at on Linux with x86_64 or aarch64; elsewhere it is enough that the file is there.
pub(crate) fn check(path: &Path) -> Result<(), LibraryFileError> {
    let data = fs::metadata(path).map_err(from_io)?;
    // Before it is opened: opening a named pipe would wait for a writer.
    if !data.is_file() {
        return Err(LibraryFileError::NotAFile);
    }
    let file = File::open(path).map_err(from_io)?;
    match Machine::of_this_program() {
        Some(ours) if cfg!(target_os = "linux") => check_elf(file, data.len(), ours),
        _ => Ok(()),
    }
}

fn from_io(error: io::Error) -> LibraryFileError {
    match error.kind() {
        io::ErrorKind::NotFound => LibraryFileError::NoFile,
        _ => LibraryFileError::Unreadable(error),
    }
}

/// A kind of machine whose libraries are checked. All of these are 64 bits wide with the low byte first.
#[derive(Clone, Copy)]
struct Machine {
    name: &'static str,
}

impl Machine {
    const X86_64: Self = Self { name: "x86_64" };
    const AARCH64: Self = Self { name: "aarch64" };

    fn of_this_program() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::AARCH64)
        } else {
            None
        }
    }
}

/// What tells builds of a library apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    /// Of the file's size and its first page, where linkers put the build's id.
    pub(crate) fingerprint: u64,
    /// When the file was last written, where the system knows.
    pub(crate) modified: Option<SystemTime>,
}

impl Build {
    pub(crate) fn of(path: &Path) -> io::Result<Build> {
        let mut file = File::open(path)?;
        let data = file.metadata()?;
        let mut start = data.len().to_le_bytes().to_vec();
        file.by_ref().take(4096).read_to_end(&mut start)?;
        Ok(Build {
            fingerprint: checksum(&start),
            modified: data.modified().ok(),
        })
    }
}

const FILE_HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

/// Checks an ELF file of `size` bytes. Positions and numbers are those of the ELF specification for 64 bits.
fn check_elf(mut file: impl Read + Seek, size: u64, ours: Machine) -> Result<(), LibraryFileError> {
    let header = read(&mut file, 0, FILE_HEADER)?;
    check_identity(&header, size, ours)?;

    let segments_at = number(&header[32..40]);
    let segment_size = number(&header[54..56]) as usize;
    let segment_count = number(&header[56..58]) as usize;
    if segment_size != PROGRAM_HEADER || segment_count == 0 {
        let what = "its headers describe nothing to load";
        return Err(LibraryFileError::NotALibrary { what });
    }
    let table = read(&mut file, segments_at, segment_size * segment_count)?;
    let table_end = end(segments_at, (segment_size * segment_count) as u64);
    let contents_end = table
        .chunks_exact(PROGRAM_HEADER)
        .map(|segment| end(number(&segment[8..16]), number(&segment[32..40])))
        .fold(table_end, u64::max);
    let needs = contents_end.max(sections_end(&header));
    if needs > size {
        return Err(LibraryFileError::Truncated { needs, has: size });
    }
    Ok(())
}

/// Checks what kind of file the first header says this is.
fn check_identity(header: &[u8], size: u64, ours: Machine) -> Result<(), LibraryFileError> {
    let not_a_library = |what| Err(LibraryFileError::NotALibrary { what });
    if header.is_empty() {
        return not_a_library("the file is empty");
    }
    if !header.starts_with(b"\x7fELF") {
        return not_a_library("it does not begin as an ELF file does");
    }
    if header.len() < FILE_HEADER {
        let needs = FILE_HEADER as u64;
        return Err(LibraryFileError::Truncated { needs, has: size });
    }
    const WIDE: u8 = 2;
    const LOW_BYTE_FIRST: u8 = 1;
    let built_for = match (header[4], header[5]) {
        (WIDE, LOW_BYTE_FIRST) => machine_name(number(&header[18..20])),
        (WIDE, _) => "a machine with the high byte first".to_owned(),
        _ => "a 32-bit machine".to_owned(),
    };
    if built_for != ours.name {
        let ours = ours.name;
        return Err(LibraryFileError::ForeignMachine { built_for, ours });
    }
    match number(&header[16..18]) {
        3 => Ok(()),
        1 => not_a_library("it is an object file that has not been linked"),
        2 => not_a_library("it is a program"),
        4 => not_a_library("it is a core dump"),
        _ => not_a_library("it is an ELF file of an unknown kind"),
    }
}

fn machine_name(machine: u64) -> String {
    let name = match machine {
        3 => "x86",
        21 => "ppc64",
        22 => "s390x",
        40 => "arm",
        183 => Machine::AARCH64.name,
        62 => Machine::X86_64.name,
        243 => "riscv64",
        other => return format!("the machine with ELF number {other}"),
    };
    name.to_owned()
}

/// Where the table of sections ends. The loader does not need it, but it closes nearly every file, so it shows a cut that all segments
/// have survived.
fn sections_end(header: &[u8]) -> u64 {
    let at = number(&header[40..48]);
    if at == 0 {
        return 0;
    }
    let (size, count) = (number(&header[58..60]), number(&header[60..62]));
    // A count of zero beside a position means that the first section holds the real count.
    end(at, size * count.max(1))
}

/// The end of `length` bytes at `start`. One that is past all numbers is past the end of every file too.
fn end(start: u64, length: u64) -> u64 {
    start.saturating_add(length)
}

/// Up to `length` bytes from `start` on: fewer if the file ends there.
fn read(
    file: &mut (impl Read + Seek),
    start: u64,
    length: usize,
) -> Result<Vec<u8>, LibraryFileError> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.take(length as u64).read_to_end(&mut bytes))
        .map_err(LibraryFileError::Unreadable)?;
    Ok(bytes)
}

/// An unsigned number with its low byte first.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
