//! Variables for a plugin that takes its settings from the environment alone.
//!
//! `setenv`, which the standard library's `set_var` calls, may move the table of variables and
//! free the old one, while another thread, in C code that knows no lock of ours, reads it: that is
//! why setting variables counts as unsafe. Here a longer table is made beside the old one and put
//! in its place in one step, and neither is ever freed: whoever reads meanwhile sees the
//! one or the other, whole. What remains is that a variable which another thread sets in that very
//! moment may be lost.

/// Adds variables to the process's environment. Those that are set already stay as they are.
#[cfg(target_os = "linux")]
pub(super) fn add(variables: &[(&'static str, &'static str)]) {
    use std::ffi::CString;

    // Another thread that sets a variable can be faster.
    for _ in 0..100 {
        let missing = variables
            .iter()
            .filter(|(name, _)| std::env::var_os(name).is_none());
        let missing: Vec<CString> = missing
            .filter_map(|(name, value)| CString::new(format!("{name}={value}")).ok())
            .collect();
        if missing.is_empty() || put_in_place(missing) {
            return;
        }
    }
}

/// No plugin that needs it exists for other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn add(_: &[(&'static str, &'static str)]) {}

/// Whether the table could be put in place: not if it was changed meanwhile.
#[cfg(target_os = "linux")]
fn put_in_place(added: Vec<std::ffi::CString>) -> bool {
    use std::ffi::{c_char, CString};
    use std::sync::atomic::{AtomicPtr, Ordering};

    type Table = *mut *mut c_char;
    extern "C" {
        /// The C library's own table: pointers to `NAME=value`, null at the end.
        static mut environ: Table;
    }
    // SAFETY: a pointer of the C library, aligned and alive as long as the process. That the
    // C library reads it without atomics is how it reads it in every process: as one word.
    let place = unsafe { AtomicPtr::from_ptr(&raw mut environ) };
    let old = place.load(Ordering::Acquire);
    let mut entries: Vec<*mut c_char> = Vec::new();
    let mut next = old;
    // SAFETY: the table is null or ends with a null; its strings are never freed by the C
    // library. The same walk is made by every reader of a variable.
    unsafe {
        while !next.is_null() && !(*next).is_null() {
            entries.push(*next);
            next = next.add(1);
        }
    }
    let added: Vec<*mut c_char> = added.into_iter().map(CString::into_raw).collect();
    entries.extend(&added);
    entries.push(std::ptr::null_mut());
    let entries = entries.leak();
    let put = place.compare_exchange(
        old,
        entries.as_mut_ptr(),
        Ordering::AcqRel,
        Ordering::Relaxed,
    );
    put.is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::add;
    use std::env::var;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_is_set_stays_and_what_is_missing_is_added() {
        add(&[("XLA_PJRT_TEST_A", "1"), ("XLA_PJRT_TEST_B", "")]);
        add(&[("XLA_PJRT_TEST_A", "2"), ("XLA_PJRT_TEST_C", "3")]);
        assert_eq!(var("XLA_PJRT_TEST_A").as_deref(), Ok("1"));
        assert_eq!(var("XLA_PJRT_TEST_B").as_deref(), Ok(""));
        assert_eq!(var("XLA_PJRT_TEST_C").as_deref(), Ok("3"));
        assert!(var("PATH").is_ok(), "what was there before is there still");
        // Children get it as well.
        let child = std::process::Command::new("env").output().expect("env");
        let listed = String::from_utf8_lossy(&child.stdout).into_owned();
        assert_eq!(listed.matches("XLA_PJRT_TEST_A=1").count(), 1, "{listed}");
    }

    #[test]
    fn readers_meanwhile_see_a_whole_table() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        assert!(var("PATH").is_ok());
                    }
                });
            }
            for round in 0..200 {
                let name: &'static str = format!("XLA_PJRT_TEST_ROUND_{round}").leak();
                add(&[(name, "yes")]);
                assert_eq!(var(name).as_deref(), Ok("yes"));
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
