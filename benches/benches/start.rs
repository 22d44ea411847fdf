//! How long it takes from loading the plugin to the end of the first training step of
//! `train_mnist`, all four programs compiled: with nothing kept, and with all of them in a
//! compile cache. Each start is a process of its own, and they take turns.

use std::path::Path;
use std::time::{Duration, Instant};

use benches::process::{case, in_child};
use benches::programs::example;
use benches::side_by_side::{is_short, is_wanted, report, Line, Pairs, Spent};
use benches::table::begin;
use xla::{
    Buffer, ClientOptions, CompileCache, CompileOptions, Executable, HostArray, Plugin, Program,
};

/// What the parts of a start took.
type Start = [Duration; 3];

const PARTS: [&str; 3] = ["plugin and client", "programs", "first step"];

fn main() {
    if let Some(case) = case() {
        let (devices, cache) = case.split_once(' ').expect("two words");
        return child(devices.parse().expect("a number"), cache);
    }
    if !begin("Starting train_mnist with its programs kept") {
        return;
    }
    let rounds = if is_short() { 1 } else { 9 };
    // To compile takes seconds.
    let counts: &[usize] = if is_short() { &[1] } else { &[1, 4] };
    for devices in counts {
        measure(*devices, rounds);
    }
}

fn measure(devices: usize, rounds: usize) {
    let name = format!("start on {devices}, all of it");
    if !is_wanted(&name) {
        return;
    }
    let dir = std::env::temp_dir().join(format!("xla-bench-start-{}", std::process::id()));
    let cache = dir.to_str().expect("a folder's name in UTF-8");
    // Fills the cache, and the system's own with the plugin's file.
    start(devices, cache);
    let pairs: Vec<(Start, Start)> = (0..rounds)
        .map(|_| (start(devices, cache), start(devices, "")))
        .collect();
    let of = |part: &dyn Fn(&Start) -> Duration| {
        let spent = |start| Spent {
            wall: part(start),
            cpu: None,
        };
        let times = pairs.iter().map(|(kept, new)| (spent(kept), spent(new)));
        Pairs::of(&times.collect::<Vec<_>>())
    };
    for (part, what) in PARTS.into_iter().enumerate() {
        // No target of their own.
        let name = format!("start on {devices}, {what}");
        report(line(&name, f64::INFINITY), &of(&|start| start[part]));
    }
    // At least five times quicker.
    report(line(&name, 1. / 5.), &of(&|start| start.iter().sum()));
    std::fs::remove_dir_all(&dir).expect("the cache's folder");
}

fn line(name: &str, most: f64) -> Line<'_> {
    Line {
        name,
        names: ["kept", "compiled"],
        most,
        batch: Duration::ZERO,
        apart: false,
    }
}

/// A start in a process of its own, with a folder for the cache or without.
fn start(devices: usize, cache: &str) -> Start {
    let told = in_child(&format!("{devices} {cache}"));
    [0, 1, 2].map(|part| Duration::from_secs_f64(told[part]))
}

fn child(devices: usize, cache: &str) {
    let texts = [
        example("init"),
        example("shuffle"),
        example(&format!("evaluate_{devices}")),
        example(&format!("train_step_{devices}")),
    ];
    let start = Instant::now();
    let mut options = ClientOptions::new().cpu_device_count(devices);
    if !cache.is_empty() {
        options = options.compile_cache(CompileCache::at(Path::new(cache)));
    }
    let client = Plugin::cpu().expect("a plugin").client_with(&options);
    let client = client.expect("a client");
    let made = start.elapsed();
    let programs = texts.map(|text| {
        let program = Program::from_text(text).expect("text");
        let compiled = client.compile(&program, &CompileOptions::new());
        compiled.expect("compiles")
    });
    let compiled = start.elapsed();
    step(&programs[3]);
    let stepped = start.elapsed();
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "{} {} {}",
        seconds(made),
        seconds(compiled - made),
        seconds(stepped - compiled)
    );
}

/// One step, of zeros.
fn step(program: &Executable) {
    let inputs = program.signature().inputs();
    let arguments: Vec<Vec<Buffer>> = program
        .devices()
        .iter()
        .map(|device| {
            let zeros = inputs.iter().map(|input| {
                let zeros = HostArray::zeros(input.shape().clone());
                zeros.to_device(device).expect("room")
            });
            zeros.collect()
        })
        .collect();
    for outputs in program.run_per_device(arguments).expect("a step") {
        for output in outputs.into_vec() {
            output.wait().expect("a step");
        }
    }
}
