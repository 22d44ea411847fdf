//! Pointer and length pairs, as the C API gives text and lists.

use std::ffi::c_char;

/// The `len` elements at `start` as a slice; empty when `start` is null.
///
/// # Safety
/// A non-null `start` points to `len` initialised elements that live and stay
/// unchanged for `'a`.
pub(super) unsafe fn slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
    if start.is_null() || len == 0 {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(start, len) }
    }
}

/// A copy of the text at `start`; bytes that aren't UTF-8 are replaced.
///
/// # Safety
/// A non-null `start` points to `len` readable bytes.
pub(super) unsafe fn text(start: *const c_char, len: usize) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { slice(start.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}
