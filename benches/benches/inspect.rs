//! How long it takes to tell what a program of 100 MB takes, gives and donates: of one with a
//! large constant, and of one of 200,000 instructions. Each is read from its file and isn't
//! compiled. Wanted: under 2 s.

#[path = "../../tests/hlo/mod.rs"]
mod hlo;

use std::path::PathBuf;
use std::time::Instant;

use benches::side_by_side::{is_measured, is_short, is_wanted};
use hlo::large;
use xla::Program;

fn main() {
    if !is_measured() {
        return;
    }
    let rounds = if is_short() { 3 } else { 15 };
    measure("inspect a constant of 100 MB", rounds, || {
        large::with_constant(25_000_000)
    });
    measure("inspect 200,000 instructions", rounds, || {
        large::with_instructions(200_000)
    });
}

/// A file that goes with its measurement.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn measure(name: &str, rounds: usize, module: impl FnOnce() -> Vec<u8>) {
    if !is_wanted(name) {
        return;
    }
    let path = std::env::temp_dir().join(format!("xla-bench-inspect-{}", std::process::id()));
    let file = File(path);
    std::fs::write(&file.0, module()).expect("room");
    let mut seconds: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let program = Program::from_file(&file.0).expect("a module");
            let signature = program.signature().expect("it is read");
            assert_eq!(signature.inputs().len(), large::STATE + 1);
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[rounds / 2];
    let verdict = if median < 2. { "met" } else { "missed" };
    println!(
        "{name}: median of {rounds} {median:.3} s (quickest {:.3}); wanted: under 2 s: {verdict}",
        seconds[0]
    );
    assert!(!is_short() || median < 2., "{name} took {median} s");
}
