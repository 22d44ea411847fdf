//! Measures two ways of doing one thing.
//!
//! One after the other they would meet different clock speeds, caches and neighbours.
//! So both take turns in short batches, and every batch of one is compared with the
//! batch of the other right beside it.

use std::time::{Duration, Instant};

use criterion::Criterion;

/// What is compared.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// What both do.
    pub name: &'a str,
    /// What the two are called.
    pub names: [&'a str; 2],
    /// The ratio that is aimed at: the first's time to the second's is to be at most this.
    pub most: f64,
    /// How long one batch takes, about.
    pub batch: Duration,
}

impl<'a> Line<'a> {
    /// The safe layer beside the raw API.
    pub fn new(name: &'a str) -> Line<'a> {
        Line {
            name,
            names: ["safe", "raw"],
            most: 1.10,
            batch: Duration::from_micros(250),
        }
    }
}

/// Whether only a short run is wanted, which fails where something is grossly slow: with
/// `XLA_BENCH_SHORT` set.
pub fn is_short() -> bool {
    std::env::var_os("XLA_BENCH_SHORT").is_some()
}

/// Whether a line is to be measured: all are, or those with the word in their name that
/// `XLA_BENCH_ONLY` is.
pub fn is_wanted(name: &str) -> bool {
    std::env::var("XLA_BENCH_ONLY").map_or(true, |only| name.contains(&only))
}

/// Above this ratio a short run fails.
const GROSS: f64 = 2.0;

/// Runs both for a while, prints the medians and their ratio, then gives both to
/// criterion as a group. `safe` and `raw` do the thing as often as they are told.
///
/// # Panics
/// In a short run: the ratio is above 2 in three tries.
pub fn compare(
    criterion: &mut Criterion,
    line: Line<'_>,
    mut safe: impl FnMut(u64),
    mut raw: impl FnMut(u64),
) {
    if !is_wanted(line.name) {
        return;
    }
    let measured = is_measured();
    if measured {
        print_ratio(line, &mut |n| time(&mut safe, n), &mut |n| {
            time(&mut raw, n)
        });
    }
    if measured && is_short() {
        return;
    }
    let [of, to] = line.names;
    let mut group = criterion.benchmark_group(line.name);
    group.bench_function(of, |b| b.iter_custom(|n| time(&mut safe, n)));
    group.bench_function(to, |b| b.iter_custom(|n| time(&mut raw, n)));
    group.finish();
}

/// As [`compare`], of two that measure themselves, and without criterion.
pub fn compare_timed(
    line: Line<'_>,
    mut of: impl FnMut(u64) -> Duration,
    mut to: impl FnMut(u64) -> Duration,
) {
    print_ratio(line, &mut of, &mut to);
}

/// As criterion does: without this argument, which cargo gives, it is a test.
pub fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

type Timed<'a> = &'a mut dyn FnMut(u64) -> Duration;

fn print_ratio(line: Line<'_>, of: Timed<'_>, to: Timed<'_>) {
    // A neighbour may spoil one try.
    for _ in 0..3 {
        let ratio = measure(line, of, to);
        if !is_short() || ratio <= GROSS.max(line.most) {
            return;
        }
    }
    panic!("{}: more than {GROSS} times in three tries", line.name);
}

fn measure(line: Line<'_>, of: Timed<'_>, to: Timed<'_>) -> f64 {
    // All batches together, about.
    let total = Duration::from_millis(if is_short() { 300 } else { 4000 });
    let each = batch_size(to, line.batch);
    of(each);
    let (mut of_times, mut to_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    while start.elapsed() < total || ratios.len() < 8 {
        // One, other, other, one: what drifts over the four hits both alike.
        let first_of = of(each);
        let first_to = to(each);
        let second_to = to(each);
        let second_of = of(each);
        for (of, to) in [(first_of, first_to), (second_of, second_to)] {
            let micros = |time: Duration| time.as_secs_f64() * 1e6 / each as f64;
            of_times.push(micros(of));
            to_times.push(micros(to));
            ratios.push(micros(of) / micros(to));
        }
    }
    let [_, of, _] = quartiles(of_times);
    let [_, to, _] = quartiles(to_times);
    let pairs = ratios.len();
    let [low, ratio, high] = quartiles(ratios);
    let verdict = if ratio <= line.most { "met" } else { "missed" };
    let [of_name, to_name] = line.names;
    println!(
        "{:44} {of_name} {of:9.2} us  {to_name} {to:9.2} us  ratio {ratio:.3} ({low:.3} to {high:.3})  \
         at most {:.3}: {verdict}  [{pairs} pairs of {each}; load {}]",
        line.name,
        line.most,
        load(),
    );
    ratio
}

/// The machine's load over the last minute, where the system tells.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

/// How many make a batch. The quickest of a few tries counts: the others were interrupted.
fn batch_size(run: Timed<'_>, batch: Duration) -> u64 {
    let mut size = 1;
    loop {
        let tries = (0..3).map(|_| run(size));
        let quickest = tries.min().unwrap_or(batch);
        if quickest >= batch {
            return size;
        }
        size *= 2;
    }
}

/// How long so many take.
pub fn time(run: &mut dyn FnMut(u64), times: u64) -> Duration {
    let start = Instant::now();
    run(times);
    start.elapsed()
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}
