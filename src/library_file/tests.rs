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
