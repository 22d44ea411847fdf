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
mod tests {
    use super::*;
    use std::io::Cursor;

    const KIND: usize = 16;
    const MACHINE: usize = 18;

    /// A library with one segment that has all of the file, and a table of two sections at its end.
    fn library() -> Vec<u8> {
        let mut file = vec![0; 400];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01\x01");
        put(KIND, &3u16.to_le_bytes());
        put(MACHINE, &62u16.to_le_bytes());
        put(32, &64u64.to_le_bytes());
        put(40, &272u64.to_le_bytes());
        put(54, &56u16.to_le_bytes());
        put(56, &1u16.to_le_bytes());
        put(58, &64u16.to_le_bytes());
        put(60, &2u16.to_le_bytes());
        put(64, &1u32.to_le_bytes());
        put(64 + 32, &200u64.to_le_bytes());
        file
    }

    fn check_bytes(bytes: &[u8]) -> Result<(), LibraryFileError> {
        check_elf(Cursor::new(bytes), bytes.len() as u64, Machine::X86_64)
    }

    fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut file = library();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    }

    fn message(bytes: &[u8]) -> String {
        check_bytes(bytes).expect_err("a refusal").to_string()
    }

    #[test]
    fn whole_library_passes_and_every_shorter_one_does_not() {
        let file = library();
        check_bytes(&file).expect("whole");
        for length in 4..file.len() {
            let cut = check_bytes(&file[..length]);
            assert!(
                matches!(cut, Err(LibraryFileError::Truncated { needs, has }) if has == length as u64 && needs > has),
                "{length}: {cut:?}"
            );
        }
        assert_eq!(
            message(&file[..399]),
            "cut short: 399 bytes are there of 400 at least, perhaps after a download that broke off"
        );
    }

    #[test]
    fn segments_count_without_a_table_of_sections() {
        let mut file = changed(40, &[0; 8]);
        file.truncate(200);
        check_bytes(&file).expect("whole");
        file.truncate(199);
        assert!(matches!(
            check_bytes(&file),
            Err(LibraryFileError::Truncated {
                needs: 200,
                has: 199
            })
        ));
    }

    #[test]
    fn numbers_past_the_end_of_all_numbers_are_no_overflow() {
        for position in [32, 40, 64 + 8, 64 + 32] {
            let error = check_bytes(&changed(position, &[0xff; 8]));
            assert!(error.is_err(), "{position}: {error:?}");
        }
    }

    #[test]
    fn other_files_are_named() {
        let not_elf = "not a shared library: it does not begin as an ELF file does";
        assert_eq!(message(b""), "not a shared library: the file is empty");
        assert_eq!(message(b"<html>no such page</html>"), not_elf);
        assert_eq!(message(&[0; 1000]), not_elf);
        assert_eq!(
            message(&changed(KIND, &[1, 0])),
            "not a shared library: it is an object file that has not been linked"
        );
        assert_eq!(
            message(&changed(KIND, &[2, 0])),
            "not a shared library: it is a program"
        );
        assert_eq!(
            message(&changed(56, &[0, 0])),
            "not a shared library: its headers describe nothing to load"
        );
    }

    #[test]
    fn other_machines_are_named() {
        assert_eq!(
            message(&changed(MACHINE, &183u16.to_le_bytes())),
            "built for aarch64, but this machine is x86_64"
        );
        assert_eq!(
            message(&changed(MACHINE, &4711u16.to_le_bytes())),
            "built for the machine with ELF number 4711, but this machine is x86_64"
        );
        assert_eq!(
            message(&changed(4, &[1])),
            "built for a 32-bit machine, but this machine is x86_64"
        );
        assert_eq!(
            message(&changed(5, &[2])),
            "built for a machine with the high byte first, but this machine is x86_64"
        );
    }

    #[test]
    fn paths_without_a_file() {
        let folder = std::env::temp_dir();
        assert!(matches!(check(&folder), Err(LibraryFileError::NotAFile)));
        let absent = folder.join("xla-pjrt-there-is-no-such-file");
        assert!(matches!(check(&absent), Err(LibraryFileError::NoFile)));
        let below_a_file = std::env::current_exe()
            .expect("a path")
            .join("libplugin.so");
        assert!(check(&below_a_file).is_err());
    }

    /// The program that runs this test is laid out as a library is, and the C library is one.
    #[test]
    #[cfg(target_os = "linux")]
    fn real_files() {
        let me = std::env::current_exe().expect("a path");
        check(&me).expect("this program");
        let maps = fs::read_to_string("/proc/self/maps").expect("maps");
        let libraries: Vec<&str> = maps
            .lines()
            .filter_map(|line| line.split_whitespace().nth(5))
            .filter(|path| path.contains(".so"))
            .collect();
        assert!(!libraries.is_empty(), "{maps}");
        for library in libraries {
            check(Path::new(library)).expect(library);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn real_file_cut_anywhere() {
        let me = std::env::current_exe().expect("a path");
        let whole = fs::read(me).expect("this program");
        let Some(ours) = Machine::of_this_program() else {
            return;
        };
        let lengths = (1..whole.len()).step_by(whole.len() / 1000 + 1);
        for length in lengths.chain([whole.len() - 1]) {
            let cut = check_elf(Cursor::new(&whole[..length]), length as u64, ours);
            assert!(cut.is_err(), "cut at {length} of {}", whole.len());
        }
    }
}
