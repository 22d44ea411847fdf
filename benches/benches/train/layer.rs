//! The example's loop: its programs, its types, its prefetching. Left out is what it prints,
//! draws and saves.

use std::time::Instant;

use anyhow::Result;
use benches::client;
use xla::{PerDevice, Prefetch};

use crate::data::Images;
use crate::programs::{Metrics, Programs, State, BATCH};
use crate::workload::{Outcome, Workload, SEED};

pub fn train(workload: &Workload) -> Result<Outcome> {
    let (training, held_out) = (workload.training(), workload.held_out());
    let client = client(workload.devices);
    let programs = Programs::compile(&client, workload.devices)?;
    let start = Instant::now();
    let held_out = programs.evaluation_batch(&held_out)?;
    let mut state = programs.init(SEED)?;
    let mut losses = Vec::new();
    let mut correct = 0.;
    for epoch in 0..workload.epochs {
        let order = programs.order(SEED, epoch)?;
        let order = &order[..order.len().min(workload.steps.saturating_mul(BATCH))];
        let metrics;
        (state, metrics) = run_epoch(&programs, &training, order, state, &mut losses)?;
        metrics.unreplicate()?.read()?;
        let score = programs.evaluate(&state, &held_out)?;
        correct = score.accuracy() * f64::from(score.seen);
    }
    Ok(Outcome {
        seconds: start.elapsed().as_secs_f64(),
        loss: f64::from(losses[losses.len() - 1]),
        correct,
    })
}

fn run_epoch(
    programs: &Programs,
    images: &Images,
    order: &[i32],
    mut state: PerDevice<State>,
    losses: &mut Vec<f32>,
) -> Result<(PerDevice<State>, PerDevice<Metrics>)> {
    let mut metrics = programs.zero_metrics()?;
    let batches = order.chunks_exact(BATCH);
    let batches = batches.map(|numbers| programs.batch(images.choose(numbers)));
    std::thread::scope(|scope| {
        let mut pending = None;
        for batch in Prefetch::scoped(scope, 2, batches)? {
            let loss;
            (state, metrics, loss) = programs.step.call((state, metrics, &batch?))?;
            if let Some(before) = pending.replace(loss.to_host_async::<f32>()?) {
                losses.extend(before.wait()?);
            }
        }
        if let Some(last) = pending {
            losses.extend(last.wait()?);
        }
        Ok((state, metrics))
    })
}
