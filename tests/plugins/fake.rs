//! A plugin as far as loading goes: a table with the functions for errors, for
//! initialising and for attributes, and null in every other place.
//!
//! `tests/loading.rs` compiles it once for each way of being wrong, chosen by `--cfg`:
//!
//! * `no_entry`: it doesn't export `GetPjrtApi`
//! * `null_table`: `GetPjrtApi` returns null
//! * `short`: the table ends inside the version
//! * `bare`: the table ends behind the version, before the first function
//! * `major_1`, `minor_56`, `minor_57`, `minor_200`: its version, which is 0.100 else
//! * `initialize_absent`, `initialize_fails`, `initialize_fails_once`
//! * `attributes_absent`, `attributes_fail`
//! * `errors_absent`: it has no functions to ask an error what it is
//! * `extended`: it has three extensions; `circular`: the last leads to the first again
//! * `wide_values`: its named values are longer than those of today's header
//!
//! Without any of them it is the good one. The layouts below are those of the C API, written down a second time on purpose:
//! nothing here comes from the crate that is tested.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

type Function = Option<unsafe extern "C" fn(*mut c_void) -> *mut Error>;

#[repr(C)]
pub struct Table {
    struct_size: usize,
    extension_start: *mut c_void,
    version: Version,
    error_destroy: Option<unsafe extern "C" fn(*mut ErrorArgs)>,
    error_message: Option<unsafe extern "C" fn(*mut MessageArgs)>,
    error_get_code: Option<unsafe extern "C" fn(*mut CodeArgs) -> *mut Error>,
    plugin_initialize: Option<unsafe extern "C" fn(*mut InitializeArgs) -> *mut Error>,
    plugin_attributes: Option<unsafe extern "C" fn(*mut AttributesArgs) -> *mut Error>,
    rest: [Function; 150],
}

#[repr(C)]
struct Version {
    struct_size: usize,
    extension_start: *mut c_void,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
pub struct ErrorArgs {
    struct_size: usize,
    extension_start: *mut c_void,
    error: *mut Error,
}

#[repr(C)]
pub struct MessageArgs {
    struct_size: usize,
    extension_start: *mut c_void,
    error: *const Error,
    message: *const c_char,
    message_size: usize,
}

#[repr(C)]
pub struct CodeArgs {
    struct_size: usize,
    extension_start: *mut c_void,
    error: *const Error,
    code: c_int,
}

#[repr(C)]
pub struct InitializeArgs {
    struct_size: usize,
    extension_start: *mut c_void,
}

#[repr(C)]
pub struct AttributesArgs {
    struct_size: usize,
    extension_start: *mut c_void,
    attributes: *const NamedValue,
    num_attributes: usize,
}

#[repr(C)]
union Value {
    text: *const c_char,
    int: i64,
    ints: *const i64,
    float: f32,
    truth: bool,
}

#[repr(C)]
pub struct NamedValue {
    struct_size: usize,
    extension_start: *mut c_void,
    name: *const c_char,
    name_size: usize,
    kind: c_int,
    value: Value,
    value_size: usize,
    /// What a later version of the header might append.
    #[cfg(wide_values)]
    later: [usize; 3],
}

/// An error is its code and its text.
pub struct Error {
    code: c_int,
    text: &'static [u8],
}

static INITIALIZE_CALLS: AtomicI64 = AtomicI64::new(0);
static ERRORS_ALIVE: AtomicI64 = AtomicI64::new(0);

/// No text ends with a NUL: behind each one stands another that nobody asked for.
const TEXTS: &[u8] = b"no cheese left, try the crackers AND WHAT FOLLOWS";
const NOT_YET: &[u8] = TEXTS.split_at(32).0;

fn error(code: c_int, text: &'static [u8]) -> *mut Error {
    ERRORS_ALIVE.fetch_add(1, SeqCst);
    Box::into_raw(Box::new(Error { code, text }))
}

/// As real plugins do: a struct that is shorter than ours is refused. The code is
/// `INVALID_ARGUMENT`.
fn check_size(given: usize, needed: usize) -> *mut Error {
    if given < needed {
        error(3, b"the struct is too short")
    } else {
        null_mut()
    }
}

unsafe extern "C" fn error_destroy(args: *mut ErrorArgs) {
    ERRORS_ALIVE.fetch_sub(1, SeqCst);
    drop(unsafe { Box::from_raw((*args).error) });
}

unsafe extern "C" fn error_message(args: *mut MessageArgs) {
    unsafe {
        let text = (*(*args).error).text;
        (*args).message = text.as_ptr().cast();
        (*args).message_size = text.len();
    }
}

unsafe extern "C" fn error_get_code(args: *mut CodeArgs) -> *mut Error {
    unsafe {
        (*args).code = (*(*args).error).code;
    }
    null_mut()
}

unsafe extern "C" fn initialize(args: *mut InitializeArgs) -> *mut Error {
    let short = check_size(unsafe { (*args).struct_size }, 16);
    if !short.is_null() {
        return short;
    }
    let calls = INITIALIZE_CALLS.fetch_add(1, SeqCst) + 1;
    // So that a second thread has the time to come in.
    std::thread::sleep(std::time::Duration::from_millis(20));
    if cfg!(initialize_fails) || (cfg!(initialize_fails_once) && calls == 1) {
        // RESOURCE_EXHAUSTED
        return error(8, NOT_YET);
    }
    null_mut()
}

fn named(name: &'static str, kind: c_int, value: Value, value_size: usize) -> NamedValue {
    NamedValue {
        struct_size: size_of::<NamedValue>(),
        extension_start: null_mut(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        kind,
        value,
        value_size,
        #[cfg(wide_values)]
        later: [usize::MAX; 3],
    }
}

unsafe extern "C" fn attributes(args: *mut AttributesArgs) -> *mut Error {
    let short = check_size(unsafe { (*args).struct_size }, 32);
    if !short.is_null() {
        return short;
    }
    if cfg!(attributes_fail) {
        // DATA_LOSS
        return error(15, NOT_YET);
    }
    static NUMBERS: [i64; 3] = [1, -2, i64::MAX];
    let int = |int: i64| Value { int };
    let text = b"text, and no NULbehind it".as_ptr().cast();
    let ints = NUMBERS.as_ptr();
    let calls = INITIALIZE_CALLS.load(SeqCst);
    let alive = ERRORS_ALIVE.load(SeqCst);
    let all = [
        named("initialize_calls", 1, int(calls), 1),
        named("errors_alive", 1, int(alive), 1),
        named("text", 0, Value { text }, 16),
        named("of a kind to come", 99, Value { ints }, 7),
        named("ints", 2, Value { ints }, 3),
        named("no ints", 2, Value { ints: null() }, 0),
        named("float", 3, Value { float: -0.5 }, 1),
        named("truth", 4, Value { truth: true }, 1),
    ];
    // They live as long as the plugin does.
    let all: &'static [NamedValue] = Vec::from(all).leak();
    unsafe {
        (*args).attributes = all.as_ptr();
        (*args).num_attributes = all.len();
    }
    null_mut()
}

#[repr(C)]
struct Extension {
    struct_size: usize,
    kind: c_int,
    next: *mut c_void,
    /// What each kind of extension has of its own.
    own: [usize; 4],
}

/// Layouts, one that nobody knows, and the first kind that there was.
fn extensions() -> *mut c_void {
    if !cfg!(extended) {
        return null_mut();
    }
    let make = |kind| {
        Box::leak(Box::new(Extension {
            struct_size: size_of::<Extension>(),
            kind,
            next: null_mut(),
            own: [usize::MAX; 4],
        }))
    };
    let [first, second, third] = [4, 7777, 0].map(make);
    if cfg!(circular) {
        third.next = (&raw mut *first).cast();
    }
    second.next = (&raw mut *third).cast();
    first.next = (&raw mut *second).cast();
    (&raw mut *first).cast()
}

fn minor() -> c_int {
    if cfg!(minor_56) {
        56
    } else if cfg!(minor_57) {
        57
    } else if cfg!(minor_200) {
        200
    } else {
        100
    }
}

#[cfg_attr(not(no_entry), unsafe(export_name = "GetPjrtApi"))]
#[cfg_attr(no_entry, unsafe(export_name = "GetSomethingElse"))]
pub extern "C" fn get_table() -> *const Table {
    if cfg!(null_table) {
        return null();
    }
    let struct_size = if cfg!(short) {
        39
    } else if cfg!(bare) {
        40
    } else {
        size_of::<Table>()
    };
    Box::leak(Box::new(Table {
        struct_size,
        extension_start: extensions(),
        version: Version {
            struct_size: size_of::<Version>(),
            extension_start: null_mut(),
            major: c_int::from(cfg!(major_1)),
            minor: minor(),
        },
        error_destroy: (!cfg!(errors_absent)).then_some(error_destroy),
        error_message: (!cfg!(errors_absent)).then_some(error_message),
        error_get_code: (!cfg!(errors_absent)).then_some(error_get_code),
        plugin_initialize: (!cfg!(initialize_absent)).then_some(initialize),
        plugin_attributes: (!cfg!(attributes_absent)).then_some(attributes),
        rest: [None; 150],
    }))
}
