//! Processes of their own for what is measured of a whole process, and what they have in
//! memory.

use std::fs;
use std::process::Command;

/// Names the case in a child's environment.
const CHILD: &str = "XLA_BENCH_CHILD";

/// The case that this process is to measure, if it is a child.
pub fn case() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// The numbers on the last line that a child of this program prints, which is told a case.
///
/// # Panics
/// It ends without, or can't be started.
pub fn in_child(case: &str) -> Vec<f64> {
    let this = std::env::current_exe().expect("this program");
    numbers_of(Command::new(this).env(CHILD, case), case)
}

/// The numbers on the last line that a program prints.
///
/// # Panics
/// As [`in_child`].
pub fn numbers_of(command: &mut Command, what: &str) -> Vec<f64> {
    let output = command.output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().last().unwrap_or_default().split(' ');
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert!(
        output.status.success() && !numbers.is_empty(),
        "{what}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    numbers
}

/// What the process has resident now, in KiB.
///
/// # Panics
/// Not on Linux.
pub fn resident() -> usize {
    status("VmRSS:")
}

/// The most that it had, in KiB.
///
/// # Panics
/// Not on Linux.
pub fn peak() -> usize {
    status("VmHWM:")
}

fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok());
    kibibytes.expect("a number")
}

/// Sets the most back to what is resident now.
///
/// # Panics
/// Not on Linux.
pub fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("Linux 4.0");
}
