//! Measures two ways of doing one thing.
//!
//! One after the other they would meet different clock speeds, caches and neighbours.
//! So both take turns in short batches, and every batch of one is compared with the
//! batch of the other right beside it.

use std::time::{Duration, Instant};

use criterion::Criterion;

/// How long all batches of a comparison take together, about.
const TIME: Duration = Duration::from_secs(4);
/// How long one batch takes, about.
const BATCH: Duration = Duration::from_micros(250);

/// Runs both for a while, prints the medians and their ratio, then gives both to
/// criterion as a group. `safe` and `raw` do the thing as often as they are told.
pub fn compare(criterion: &mut Criterion, name: &str, safe: impl FnMut(u64), raw: impl FnMut(u64)) {
    compare_named(criterion, name, ["safe", "raw"], safe, raw);
}

/// As [`compare`], with other names for the two.
pub fn compare_named(
    criterion: &mut Criterion,
    name: &str,
    [of, to]: [&str; 2],
    mut safe: impl FnMut(u64),
    mut raw: impl FnMut(u64),
) {
    // As criterion does: without this argument, which cargo gives, it is a test.
    if std::env::args().any(|argument| argument == "--bench") {
        print_ratio(name, [of, to], &mut safe, &mut raw);
    }
    let mut group = criterion.benchmark_group(name);
    group.bench_function(of, |b| b.iter_custom(|n| time(&mut safe, n)));
    group.bench_function(to, |b| b.iter_custom(|n| time(&mut raw, n)));
    group.finish();
}

fn print_ratio(
    name: &str,
    [of, to]: [&str; 2],
    safe: &mut dyn FnMut(u64),
    raw: &mut dyn FnMut(u64),
) {
    let each = batch_size(raw);
    time(safe, each);
    let (mut safe_times, mut raw_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while start.elapsed() < TIME {
        // Safe, raw, raw, safe: what drifts over the four hits both alike.
        let first_safe = time(safe, each);
        let first_raw = time(raw, each);
        let second_raw = time(raw, each);
        let second_safe = time(safe, each);
        for (safe, raw) in [(first_safe, first_raw), (second_safe, second_raw)] {
            let micros = |time: Duration| time.as_secs_f64() * 1e6 / each as f64;
            safe_times.push(micros(safe));
            raw_times.push(micros(raw));
            ratios.push(micros(safe) / micros(raw));
        }
    }
    let [_, safe, _] = quartiles(safe_times);
    let [_, raw, _] = quartiles(raw_times);
    let pairs = ratios.len();
    let [low, ratio, high] = quartiles(ratios);
    println!(
        "{name:32} {of} {safe:10.3} us  {to} {raw:10.3} us  of medians {:.3}  of pairs {ratio:.3} \
         ({low:.3} to {high:.3} in the middle half of {pairs} pairs of {each})",
        safe / raw
    );
}

/// How many make a batch. The quickest of a few tries counts: the others were interrupted.
fn batch_size(run: &mut dyn FnMut(u64)) -> u64 {
    let mut size = 1;
    loop {
        let tries = (0..5).map(|_| time(run, size));
        let quickest = tries.min().unwrap_or(BATCH);
        if quickest >= BATCH {
            return size;
        }
        size *= 2;
    }
}

fn time(run: &mut dyn FnMut(u64), times: u64) -> Duration {
    let start = Instant::now();
    run(times);
    start.elapsed()
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}
