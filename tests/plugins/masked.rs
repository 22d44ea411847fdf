//! A real plugin with a function less: it hands out the real one's table with null in
//! one place, or one that ends before that place.
//!
//! `tests/loading.rs` compiles it with the path of the real plugin in `REAL_PLUGIN`,
//! copies the library, and writes into each copy which function is missing there.

use std::ffi::{c_char, c_int, c_void, CString};

/// What a copy changes: the offset of the place in decimal digits, and whether the
/// table ends there (`y`) or only that place is null (`n`).
#[unsafe(no_mangle)]
pub static MASK: [u8; 36] = *b"masked plugin: offset=000000, cut=n.";

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const NOW: c_int = 2;

/// # Panics
/// The real plugin can't be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const usize {
    // SAFETY: an ordinary read, which the compiler must not do beforehand.
    let mask = unsafe { std::ptr::read_volatile(&MASK) };
    let digits = std::str::from_utf8(&mask[22..28]).expect("digits");
    let place = digits.parse::<usize>().expect("an offset") / size_of::<usize>();
    let path = CString::new(env!("REAL_PLUGIN")).expect("a path");
    // SAFETY: the library is a plugin, so it exports this function, and its table
    // begins with its size in bytes.
    let real = unsafe {
        let library = dlopen(path.as_ptr(), NOW);
        assert!(!library.is_null(), "the real plugin");
        let entry = dlsym(library, c"GetPjrtApi".as_ptr());
        assert!(!entry.is_null(), "its entry");
        let entry: extern "C" fn() -> *const usize = std::mem::transmute(entry);
        let real = entry();
        std::slice::from_raw_parts(real, *real / size_of::<usize>())
    };
    let mut table = real.to_vec();
    // An older plugin's table may end before the place: then it is missing already.
    if place < table.len() {
        if mask[34] == b'y' {
            // What lies behind is left, for those who look there all the same.
            table[0] = place * size_of::<usize>();
        } else {
            table[place] = 0;
        }
    }
    table.leak().as_ptr()
}
