//! How long it takes from loading the plugin to the end of the first training step of
//! `train_mnist`, all four programs compiled: with nothing kept, and with all of them in a
//! compile cache. Each start is a process of its own, and they take turns.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use benches::side_by_side::{is_measured, is_short, is_wanted};
use xla::{
    Buffer, ClientOptions, CompileCache, CompileOptions, Executable, HostArray, Plugin, Program,
};

const CHILD: &str = "XLA_BENCH_START_CHILD";
const CACHE: &str = "XLA_BENCH_START_CACHE";

/// What a start took, in seconds.
#[derive(Clone, Copy)]
struct Start {
    /// Loading the plugin and making the client.
    plugin: f64,
    /// Compiling the programs, or loading them.
    programs: f64,
    /// The first step, awaited.
    step: f64,
}

impl Start {
    fn all(self) -> f64 {
        self.plugin + self.programs + self.step
    }
}

fn main() {
    if let Ok(devices) = std::env::var(CHILD) {
        return child(devices.parse().expect("a number"));
    }
    if !is_measured() {
        return;
    }
    let rounds = if is_short() { 1 } else { 9 };
    for devices in [1, 4] {
        let name = format!("start of train_mnist on {devices}");
        if is_wanted(&name) {
            measure(&name, devices, rounds);
        }
    }
}

fn measure(name: &str, devices: usize, rounds: usize) {
    let dir = std::env::temp_dir().join(format!("xla-bench-start-{}", std::process::id()));
    // Fills the cache, and the system's own with the plugin's file.
    in_child(devices, Some(&dir));
    let pairs: Vec<(Start, Start)> = (0..rounds)
        .map(|_| (in_child(devices, None), in_child(devices, Some(&dir))))
        .collect();
    println!("{name}: median of {rounds} pairs, seconds");
    let median = |what: &dyn Fn(&(Start, Start)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(what).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    type Part = fn(Start) -> f64;
    let parts: [(&str, Part); 4] = [
        ("plugin and client", |start| start.plugin),
        ("programs", |start| start.programs),
        ("first step", |start| start.step),
        ("all", Start::all),
    ];
    for (what, part) in parts {
        println!(
            "  {what:20} compiled {:8.4}  kept {:8.4}  ratio {:7.2}",
            median(&|pair| part(pair.0)),
            median(&|pair| part(pair.1)),
            median(&|pair| part(pair.0) / part(pair.1)),
        );
    }
    let ratio = median(&|pair| pair.0.all() / pair.1.all());
    let verdict = if ratio >= 5. { "met" } else { "missed" };
    println!("  wanted: at least 5 in all: {verdict}");
    std::fs::remove_dir_all(&dir).expect("the cache's folder");
}

fn in_child(devices: usize, cache: Option<&Path>) -> Start {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(CHILD, devices.to_string());
    match cache {
        Some(dir) => command.env(CACHE, dir),
        None => command.env_remove(CACHE),
    };
    let output = command.output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().last().unwrap_or_default().split(' ');
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [plugin, programs, step] => Start {
            plugin,
            programs,
            step,
        },
        _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn child(devices: usize) {
    let text = |name: &str| {
        let file = format!("../examples/programs/{name}.mlir");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::read_to_string(path).expect("a program of the examples")
    };
    let texts = [
        text("init"),
        text("shuffle"),
        text(&format!("evaluate_{devices}")),
        text(&format!("train_step_{devices}")),
    ];
    let start = Instant::now();
    let mut options = ClientOptions::new().cpu_device_count(devices);
    if let Some(dir) = std::env::var_os(CACHE) {
        options = options.compile_cache(CompileCache::at(dir));
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
