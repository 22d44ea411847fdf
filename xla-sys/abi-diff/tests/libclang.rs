//! The whole way, from a header to a verdict. These need libclang, and fail without it, so they
//! only exist with the feature `libclang`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Writes a header into a folder of its own, under the name of one that we cover.
fn header(folder: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("make the folder");
    let path = folder.join("pjrt_c_api_stream_extension.h");
    fs::write(&path, text).expect("write the header");
    path
}

fn run(path: &Path) -> (Option<i32>, String) {
    let tool = env!("CARGO_BIN_EXE_xla-pjrt-abi-diff");
    let output: Output = Command::new(tool).arg(path).output().expect("run the tool");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// What we know of that header, in C of our own.
const KNOWN: &str = r"
    typedef unsigned long size_t;
    typedef long intptr_t;
    typedef struct PJRT_Error PJRT_Error;
    typedef struct PJRT_Device PJRT_Device;
    typedef struct PJRT_Buffer PJRT_Buffer;
    typedef struct PJRT_Get_Stream_For_External_Ready_Events_Args {
        size_t struct_size;
        PJRT_Device *device;
        intptr_t stream;
    } PJRT_Get_Stream_For_External_Ready_Events_Args;
    enum { PJRT_Get_Stream_For_External_Ready_Events_Args_STRUCT_SIZE = 24 };
    typedef struct PJRT_Wait_Until_Buffer_Ready_On_Stream_Args {
        size_t struct_size;
        intptr_t stream;
        PJRT_Buffer *buffer;
    } PJRT_Wait_Until_Buffer_Ready_On_Stream_Args;
    typedef PJRT_Error *Get(PJRT_Get_Stream_For_External_Ready_Events_Args *);
    typedef PJRT_Error *Wait(PJRT_Wait_Until_Buffer_Ready_On_Stream_Args *);
    struct base { size_t struct_size; unsigned type; struct base *next; };
    typedef struct PJRT_Stream_Extension {
        struct base base;
        Get *get_stream;
        Wait *wait_stream;
    } PJRT_Stream_Extension;
";

#[test]
fn a_header_that_we_know_differs_in_nothing() {
    let (status, text) = run(&header("known", KNOWN));
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn a_changed_header_is_reported() {
    let changed = KNOWN
        .replace("PJRT_Buffer *buffer;", "PJRT_Buffer *buffer; _Bool wait;")
        .replace("PJRT_Device *device;", "")
        .replace("STRUCT_SIZE = 24", "STRUCT_SIZE = 16")
        + "typedef enum { PJRT_Stream_Kind_Fast = 4 } PJRT_Stream_Kind;
           typedef struct PJRT_Stream_New_Args { size_t struct_size; } PJRT_Stream_New_Args;";
    let (status, text) = run(&header("changed", &changed));
    assert_eq!(status, Some(1), "{text}");
    for line in [
        "new struct  PJRT_Stream_New_Args, 8 bytes",
        "new field   PJRT_Wait_Until_Buffer_Ready_On_Stream_Args.wait, at 24, 1 bytes",
        "new enum    PJRT_Stream_Kind",
        "changed     offset of PJRT_Get_Stream_For_External_Ready_Events_Args.stream: 8 in the header, 16 here",
        "gone        PJRT_Get_Stream_For_External_Ready_Events_Args.device",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis missing in\n{text}");
    }
}

#[test]
fn a_header_that_is_no_c_is_an_error() {
    let (status, text) = run(&header("broken", "struct {"));
    assert_eq!(status, Some(2), "{text}");
}
