//! `train_mnist` from its start to its end, beside the same loop through the C API and beside
//! JAX: the same images in the same order, as many steps, the same donation. Each run is a
//! process of its own, and they take turns.
//!
//! The images are read once, here, and lie in files as they lie in memory: all three load them
//! in no time.

#[allow(dead_code)] // the example's file, of which all but one function is used
#[path = "../../../examples/train_mnist/data.rs"]
mod data;
#[allow(dead_code)] // as above
#[path = "../../../examples/train_mnist/programs.rs"]
mod programs;

mod by_hand;
mod layer;
mod workload;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use benches::process::{case, in_child, numbers_of, peak};
use benches::side_by_side::{in_tries, is_short, is_wanted, report, Line, Pairs, Spent};
use benches::table::{begin, Figure};
use workload::{Outcome, Workload};

fn main() {
    if let Some(case) = case() {
        return child(&case);
    }
    if !begin("Training a network on MNIST") {
        return;
    }
    let python = std::env::var_os("XLA_BENCH_PYTHON").map(PathBuf::from);
    let python = python.filter(|_| !is_short());
    let folder = std::env::temp_dir().join(format!("xla-bench-train-{}", std::process::id()));
    workload::write_images(&folder);
    let counts: &[usize] = if is_short() { &[1] } else { &[1, 4] };
    for devices in counts {
        let workload = Workload {
            devices: *devices,
            epochs: if is_short() { 1 } else { 5 },
            steps: if is_short() { 20 } else { usize::MAX },
            folder: folder.clone(),
        };
        measure(&workload, python.as_deref());
    }
    std::fs::remove_dir_all(&folder).expect("the images' folder");
}

fn child(case: &str) {
    let (how, workload) = case.split_once(' ').expect("a workload");
    let workload = Workload::parse(workload);
    let outcome = match how {
        "layer" => layer::train(&workload).expect("a training"),
        _ => by_hand::train(&workload),
    };
    println!("{} {}", outcome, peak() as f64 / 1024.);
}

/// What a run took.
#[derive(Clone, Copy)]
struct Run {
    /// From starting the process to its end.
    whole: Duration,
    outcome: Outcome,
    /// The most that the process had resident, in MiB.
    peak: f64,
}

fn run(told: impl FnOnce() -> Vec<f64>) -> Run {
    let start = Instant::now();
    let told = told();
    Run {
        whole: start.elapsed(),
        outcome: Outcome {
            seconds: told[0],
            loss: told[1],
            correct: told[2],
        },
        peak: told[3],
    }
}

fn measure(workload: &Workload, python: Option<&Path>) {
    let devices = workload.devices;
    let name = |what: &str| format!("train_mnist on {devices}, {what}");
    let of = |what: &str| in_child(&format!("{what} {workload}"));
    if is_wanted(&name("by hand")) {
        beside(
            &name(""),
            "raw",
            1.10,
            || run(|| of("layer")),
            || run(|| of("raw")),
        );
    }
    if let Some(python) = python.filter(|_| is_wanted(&name("jax"))) {
        let jax = || run(|| in_python(python, workload));
        beside(&name(""), "jax", 1.0, || run(|| of("layer")), jax);
    }
}

fn in_python(python: &Path, workload: &Workload) -> Vec<f64> {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "jax", "train.py"]
        .iter()
        .collect();
    let mut command = Command::new(python);
    let workload = workload.to_string();
    command.arg(script).args(workload.splitn(4, ' '));
    numbers_of(&mut command, "train.py")
}

/// Lets the two take turns, and reports how long the whole took, the steps alone, and the peaks.
fn beside(name: &str, other: &str, most: f64, ours: impl Fn() -> Run, theirs: impl Fn() -> Run) {
    in_tries(name, || {
        // The first fills the system's cache with the files.
        let rounds = if is_short() { 1 } else { 5 };
        let runs = (0..rounds).map(|round| {
            if round % 2 == 0 {
                let ours = ours();
                (ours, theirs())
            } else {
                let theirs = theirs();
                (ours(), theirs)
            }
        });
        let mut runs: Vec<(Run, Run)> = runs.collect();
        if rounds > 1 {
            runs.remove(0);
        }
        for (ours, theirs) in &runs {
            ours.outcome.check_same(&theirs.outcome);
        }
        let of = |what: &str, part: &dyn Fn(&Run) -> Duration| {
            let name = format!("{name}{what}");
            let line = Line {
                name: &name,
                names: ["safe", other],
                most,
                batch: Duration::ZERO,
                apart: false,
            };
            let spent = |run| Spent {
                wall: part(run),
                cpu: None,
            };
            let times = runs.iter().map(|(of, to)| (spent(of), spent(to)));
            report(line, &Pairs::of(&times.collect::<Vec<_>>()))
        };
        let whole = of("the whole process", &|run| run.whole);
        of("its steps", &|run| {
            Duration::from_secs_f64(run.outcome.seconds)
        });

        let [ours, theirs] = [0, 1].map(|side| {
            let peaks = runs.iter().map(|(of, to)| [of, to][side].peak);
            let mut peaks: Vec<f64> = peaks.collect();
            peaks.sort_by(f64::total_cmp);
            peaks[peaks.len() / 2]
        });
        let name = format!("{name}peak memory");
        let figure = Figure {
            name: &name,
            unit: "MiB",
            beside: Some((other, theirs)),
            most,
        };
        let far = figure.report(ours);
        whole <= 2.0 && !far
    });
}
