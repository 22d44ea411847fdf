//! Where memory goes, and what donation saves of it.
//!
//! ```sh
//! cargo run --release --features fetch-cpu --example 11_memory
//! ```
//!
//! A training step with Adam, on a state of 256 MiB (`--mib` takes another size) and a gradient
//! a third as large. The state is donated to every step in one process, and only given in another,
//! where old and new state are there at once. Each process is measured from inside, by the
//! client's account of its buffers, and from outside, by what the system saw it take.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use clap::Parser;
use xla::{label, Buffer, Client, CompileOptions, Function, Give, HostVec, Program, Ref, Tree};

#[derive(Parser)]
struct Options {
    /// The size of the state: weights and two moments. Below 96, glibc keeps what is freed, and
    /// the peak of the process says little.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(3..=1 << 20))]
    mib: u64,
    /// How many steps are made.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Makes the steps in this process, with or without donation.
    #[arg(long, hide = true)]
    donate: Option<bool>,
}

#[derive(Tree)]
struct State {
    weights: Buffer,
    means: Buffer,
    squares: Buffer,
}

fn main() -> Result<()> {
    let options = Options::parse();
    match options.donate {
        Some(donate) => train(&options, donate),
        None => compare(&options),
    }
}

/// What a process tells of itself, on its last line.
struct Told {
    account_peak: usize,
    process_peak: usize,
    step: Duration,
}

fn compare(options: &Options) -> Result<()> {
    let [donated, given] = [in_child(options, true)?, in_child(options, false)?];
    println!("{:28} {:>12} {:>12}", "", "donated", "not");
    let mib = |bytes: usize| format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64);
    let row = |name, of: &dyn Fn(&Told) -> String| {
        println!("{name:28} {:>12} {:>12}", of(&donated), of(&given));
    };
    row("peak of the buffers", &|told| mib(told.account_peak));
    row("peak of the process", &|told| match told.process_peak {
        0 => "unknown".to_owned(),
        peak => mib(peak),
    });
    row("a step", &|told| {
        format!("{:.1} ms", told.step.as_secs_f64() * 1e3)
    });
    Ok(())
}

/// Runs this program again, in a process that does nothing else.
fn in_child(options: &Options, donate: bool) -> Result<Told> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--mib", &options.mib.to_string()])
        .args(["--steps", &options.steps.to_string()])
        .args(["--donate", &donate.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&child.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let Some((last, table)) = lines.split_last().filter(|_| child.status.success()) else {
        bail!("{}", String::from_utf8_lossy(&child.stderr));
    };
    println!("{}\n", table.join("\n"));
    let numbers: Vec<usize> = last.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    let [account_peak, process_peak, nanos] = numbers[..] else {
        bail!("three numbers were expected, not `{last}`");
    };
    Ok(Told {
        account_peak,
        process_peak,
        step: Duration::from_nanos(nanos as u64),
    })
}

fn train(options: &Options, donate: bool) -> Result<()> {
    let client = Client::cpu()?;
    let device = client.device(0)?;
    let count = (options.mib << 20) as usize / 3 / size_of::<f32>();
    let program = Program::from_text(adam(count, donate))?;
    let compiled = client.compile(&program, &CompileOptions::new())?;
    let stats = compiled.memory_stats()?;
    let step: Function<(Give<State>, Ref<Buffer>), State> = compiled.typed()?;

    // The buffers that are made under a label are counted under it. The results of a step that
    // lie in donated memory keep its label.
    let filled = |name, value: f32| {
        let _label = label(name);
        let values = HostVec::from_slice(&vec![value; count]);
        Buffer::from_host_vec(&device, values, &[count]).context("room for the state")
    };
    let gradient = filled("gradient", 0.5)?;
    let mut state = State {
        weights: filled("weights", 1.0)?,
        means: filled("moments", 0.0)?,
        squares: filled("moments", 0.0)?,
    };
    let start = Instant::now();
    for _ in 0..options.steps {
        let _label = label("steps");
        state = step.call((state, &gradient))?;
        state.weights.wait()?;
    }
    let each = start.elapsed() / options.steps;
    // Before anything is read back.
    let process_peak = process_peak();

    let weights = state.weights.to_host::<f32>()?;
    let wanted = by_hand(options.steps);
    ensure!(
        weights.iter().all(|weight| (weight - wanted).abs() < 1e-5),
        "the weights are {}, and should be {wanted}",
        weights[0]
    );
    drop(weights);

    let account = client.memory_account();
    let peak = account.devices()[0].peak_bytes;
    // Four arrays; without donation three more, for the new state beside the old.
    let arrays = if donate { 4 } else { 7 };
    assert_eq!(peak, arrays * count * size_of::<f32>());
    assert_eq!(account.live_buffers(), 4);
    println!(
        "{}: a run takes {} MiB, says the compiler",
        if donate { "donated" } else { "not donated" },
        stats.run_bytes() >> 20
    );
    println!("{}", account.explain());
    println!("{peak} {process_peak} {}", each.as_nanos());
    Ok(())
}

/// Adam without its correction for the first steps, on three arrays and a gradient.
fn adam(count: usize, donate: bool) -> String {
    let array = format!("tensor<{count}xf32>");
    let donated = |output| match donate {
        true => format!(" {{tf.aliasing_output = {output} : i32}}"),
        false => String::new(),
    };
    let constants = [
        ("keep", "0.9"),
        ("take", "0.1"),
        ("keep_squares", "0.999"),
        ("take_squares", "0.001"),
        ("rate", "0.01"),
        ("small", "1.0e-8"),
    ];
    let constants = constants
        .map(|(name, value)| format!("%{name} = stablehlo.constant dense<{value}> : {array}\n"));
    let operations = [
        ("m0", "multiply %m, %keep"),
        ("m1", "multiply %g, %take"),
        ("mean", "add %m0, %m1"),
        ("v0", "multiply %v, %keep_squares"),
        ("g2", "multiply %g, %g"),
        ("v1", "multiply %g2, %take_squares"),
        ("square", "add %v0, %v1"),
        ("root", "sqrt %square"),
        ("safe", "add %root, %small"),
        ("direction", "divide %mean, %safe"),
        ("change", "multiply %direction, %rate"),
        ("new", "subtract %w, %change"),
    ];
    let operations =
        operations.map(|(name, operation)| format!("%{name} = stablehlo.{operation} : {array}\n"));
    format!(
        "func.func @main(%w: {array}{}, %m: {array}{}, %v: {array}{}, %g: {array})
             -> ({array}, {array}, {array}) {{
           {}{}
           return %new, %mean, %square : {array}, {array}, {array}
         }}",
        donated(0),
        donated(1),
        donated(2),
        constants.concat(),
        operations.concat(),
    )
}

/// What becomes of a weight of 1 with gradients of 0.5.
fn by_hand(steps: u32) -> f32 {
    let (mut weight, mut mean, mut square) = (1f32, 0f32, 0f32);
    for _ in 0..steps {
        mean = 0.9 * mean + 0.1 * 0.5;
        square = 0.999 * square + 0.001 * 0.25;
        weight -= 0.01 * mean / (square.sqrt() + 1e-8);
    }
    weight
}

/// The most that the process had in memory, in bytes, code and compiler included; 0 where the
/// system doesn't tell.
fn process_peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok());
    kib.unwrap_or_default() * 1024
}
