//! Trains a small convolutional network on 5,000 handwritten digits, on one device or
//! several, and looks at what donation saves.
//!
//! ```sh
//! cargo run --release --features fetch-cpu --example train_mnist
//! cargo run --release --features fetch-cpu --example train_mnist -- --devices 1 --plot curves.svg
//! ```
//!
//! The programs were exported from JAX; nothing of Python is needed to run them. Where
//! to look: `programs.rs` for the step that is given its state, and `train` below for
//! the loop around it.

mod data;
mod options;
mod plot;
mod programs;
mod report;
mod snapshot;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Result};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use xla::{ClientOptions, HostTree, PerDevice, Plugin, Prefetch};

use data::{Data, Images};
use options::Options;
use programs::{Metrics, Programs, State, BATCH};
use report::{Epoch, Memory, Report};

/// What ten epochs must reach on the images that were held out.
const GOOD: f64 = 0.94;

fn main() -> Result<()> {
    let options = Options::parse();
    let data = data::read()?;
    let plugin = match &options.plugin {
        Some(path) => Plugin::load(path)?,
        None => Plugin::cpu()?,
    };
    let client = plugin.client_with(&ClientOptions::new().cpu_device_count(options.devices))?;
    let (major, minor) = plugin.api_version();
    println!(
        "{} images, {} held out; {} of {} {} devices, PJRT API {major}.{minor}",
        data.training.len(),
        data.held_out.len(),
        options.devices,
        client.device_count(),
        client.platform_name(),
    );

    let programs = Programs::compile(&client, options.devices)?;
    let save = options.save.clone().unwrap_or_else(default_save);
    let trained = train(&programs, &data, &options, &save)?;

    // The network from the file is the one that was best.
    let kept = programs.restore(&snapshot::read(&save)?)?;
    let held_out = programs.evaluation_batch(&data.held_out)?;
    let accuracy = programs.evaluate(&kept, &held_out)?.accuracy();
    ensure!(
        accuracy == trained.best,
        "{accuracy} with the weights from {}, {} before they were written",
        save.display(),
        trained.best
    );

    let step = programs.step.executable();
    let report = Report {
        images: trained.losses.len() * BATCH,
        losses: trained.losses,
        epochs: trained.epochs,
        held_out_accuracy: accuracy,
        training_time: trained.time,
        donated_bytes: step.signature().donated_bytes(),
        memory: Memory {
            donated: step.memory_stats()?,
            undonated: Programs::undonated(&client, options.devices)?.memory_stats()?,
        },
    };
    println!();
    println!(
        "held-out accuracy   {:.2}%, kept in {}",
        accuracy * 100.0,
        save.display()
    );
    println!("images per second   {:.0}", report.images_per_second());
    println!(
        "donated in a step   {} bytes on each device",
        report.donated_bytes
    );
    println!();
    println!("{}", report.memory.table());

    if let Some(path) = &options.plot {
        plot::draw(&report, path)?;
    }
    if let Some(path) = &options.json {
        report.write(path)?;
    }
    if options.epochs >= 10 {
        ensure!(
            accuracy >= GOOD,
            "less than {GOOD} of the held-out images were seen right"
        );
    }
    Ok(())
}

/// A file of this process alone.
fn default_save() -> PathBuf {
    let name = format!("train_mnist-{}.safetensors", std::process::id());
    std::env::temp_dir().join(name)
}

/// What the loop gives.
struct Trained {
    losses: Vec<f32>,
    epochs: Vec<Epoch>,
    /// The best accuracy on the held-out images: of the network in the file.
    best: f64,
    time: Duration,
}

fn train(programs: &Programs, data: &Data, options: &Options, save: &Path) -> Result<Trained> {
    let held_out = programs.evaluation_batch(&data.held_out)?;
    let mut state = programs.init(options.seed)?;
    let mut trained = Trained {
        losses: Vec::new(),
        epochs: Vec::new(),
        best: f64::NEG_INFINITY,
        time: Duration::ZERO,
    };
    let steps = data.training.len() / BATCH;
    let bar = progress_bar(u64::from(options.epochs) * steps as u64);
    bar.suspend(|| println!("\n{}", report::HEAD));
    for number in 1..=options.epochs {
        let metrics;
        let start = Instant::now();
        let order = programs.order(options.seed, number - 1)?;
        let losses = &mut trained.losses;
        (state, metrics) = run_epoch(programs, &data.training, &order, state, losses, &bar)?;
        let time = start.elapsed();
        trained.time += time;

        // Between two steps the state can be looked at: evaluation and file borrow it.
        let epoch = Epoch {
            training: metrics.unreplicate()?.read()?,
            held_out: programs.evaluate(&state, &held_out)?,
            images_per_second: (steps * BATCH) as f64 / time.as_secs_f64(),
        };
        bar.suspend(|| println!("{}", epoch.row(number)));
        let accuracy = epoch.held_out.accuracy();
        if accuracy > trained.best {
            trained.best = accuracy;
            snapshot::write(save, &HostTree::read(&state[0])?)?;
        }
        trained.epochs.push(epoch);
    }
    bar.finish_and_clear();
    // Every device took the same steps, bit by bit.
    state.assert_replicas_equal()?;
    Ok(trained)
}

/// Goes through the training images once, in whole batches. Gives what became of the state,
/// and the sums over the epoch.
fn run_epoch(
    programs: &Programs,
    images: &Images,
    order: &[i32],
    mut state: PerDevice<State>,
    losses: &mut Vec<f32>,
    bar: &ProgressBar,
) -> Result<(PerDevice<State>, PerDevice<Metrics>)> {
    let mut metrics = programs.zero_metrics()?;
    let batches = order.chunks_exact(BATCH);
    let batches = batches.map(|numbers| programs.batch(images.choose(numbers)));
    thread::scope(|scope| {
        let mut pending = None;
        // The next two batches are cut and uploaded on a thread of their own.
        for batch in Prefetch::scoped(scope, 2, batches)? {
            let loss;
            (state, metrics, loss) = programs.step.call((state, metrics, &batch?))?;
            // The loss of the step before: meanwhile the devices have this one to do.
            if let Some(before) = pending.replace(loss.to_host_async::<f32>()?) {
                losses.extend(before.wait()?);
            }
            bar.inc(1);
        }
        if let Some(last) = pending {
            losses.extend(last.wait()?);
        }
        Ok((state, metrics))
    })
}

/// On standard error, and only where that is a terminal.
fn progress_bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} step {pos} of {len}, {eta} left");
    let bar = ProgressBar::new(steps);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
