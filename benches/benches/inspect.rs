//! How long it takes to tell what a program of 100 MB takes, gives and donates: of one with a
//! large constant, and of one of 200,000 instructions. Each is read from its file and isn't
//! compiled. Wanted: under 2 s.

#[path = "../../tests/hlo/mod.rs"]
mod hlo;

use std::path::PathBuf;
use std::time::Instant;

use benches::side_by_side::is_short;
use benches::table::{begin, Figure};
use hlo::large;
use xla::Program;

fn main() {
    if !begin("Large modules") {
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
    let figure = Figure {
        name,
        unit: "s",
        beside: None,
        most: 2.,
    };
    let path = std::env::temp_dir().join(format!("xla-bench-inspect-{}", std::process::id()));
    let file = File(path);
    std::fs::write(&file.0, module()).expect("room");
    figure.measure(|| {
        let mut seconds: Vec<f64> = (0..rounds).map(|_| inspect(&file)).collect();
        seconds.sort_by(f64::total_cmp);
        seconds[rounds / 2]
    });
}

/// Seconds.
fn inspect(file: &File) -> f64 {
    let start = Instant::now();
    let program = Program::from_file(&file.0).expect("a module");
    let signature = program.signature().expect("it is read");
    assert_eq!(signature.inputs().len(), large::STATE + 1);
    start.elapsed().as_secs_f64()
}
