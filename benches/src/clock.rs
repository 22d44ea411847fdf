//! The time that a thread has run.

use std::time::Duration;

/// How long the calling thread has run on a processor, where the system tells.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) fn thread() -> Option<Duration> {
    /// As C has it.
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }

    extern "C" {
        fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
    }

    const THREAD_CPU_TIME: i32 = 3;
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library, which std links, writes two numbers to where it is told.
    let status = unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    (status == 0).then(|| Duration::new(time.seconds as u64, time.nanoseconds as u32))
}

/// As above.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(crate) fn thread() -> Option<Duration> {
    None
}
