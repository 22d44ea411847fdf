//! Measures two ways of doing one thing.
//!
//! One after the other they would meet different clock speeds, caches and neighbours.
//! So both take turns in short batches, and every batch of one is compared with the
//! batch of the other right beside it.

use std::time::{Duration, Instant};

use criterion::Criterion;

use crate::clock;

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
        print_ratio(line, &mut |n| spent(&mut safe, n), &mut |n| {
            spent(&mut raw, n)
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
    mut of: impl FnMut(u64) -> Spent,
    mut to: impl FnMut(u64) -> Spent,
) {
    if is_wanted(line.name) {
        print_ratio(line, &mut of, &mut to);
    }
}

/// As criterion does: without this argument, which cargo gives, it is a test.
pub fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

type Timed<'a> = &'a mut dyn FnMut(u64) -> Spent;

/// What a batch takes.
pub struct Spent {
    /// From its beginning to its end.
    pub wall: Duration,
    /// On the calling thread, which neighbours don't lengthen.
    pub cpu: Option<Duration>,
}

impl Spent {
    /// In microseconds, of which a batch has `each`.
    fn micros(&self, each: u64) -> [f64; 2] {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / each as f64;
        [micros(self.wall), self.cpu.map_or(f64::NAN, micros)]
    }
}

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
    let mut pairs = Vec::new();
    let start = Instant::now();
    let fewest = if is_short() { 4 } else { 8 };
    while start.elapsed() < total || pairs.len() < fewest {
        // One, other, other, one: what drifts over the four hits both alike.
        let first_of = of(each).micros(each);
        let first_to = to(each).micros(each);
        let second_to = to(each).micros(each);
        let second_of = of(each).micros(each);
        pairs.extend([(first_of, first_to), (second_of, second_to)]);
    }
    report(line, each, &pairs)
}

/// Prints a line of medians, and one of what neighbours disturb less: the quickest batches,
/// and the time on the calling thread where it is known. The median of the ratios.
fn report(line: Line<'_>, each: u64, pairs: &[([f64; 2], [f64; 2])]) -> f64 {
    let [of_name, to_name] = line.names;
    let middle = |values: &mut dyn Iterator<Item = f64>| quartiles(values.collect());
    let [wall, cpu] = [0, 1].map(|kind| {
        let [_, of, _] = middle(&mut pairs.iter().map(|(of, _)| of[kind]));
        let [_, to, _] = middle(&mut pairs.iter().map(|(_, to)| to[kind]));
        let ratios = middle(&mut pairs.iter().map(|(of, to)| of[kind] / to[kind]));
        (of, to, ratios)
    });
    let quick_of = quickest(pairs.iter().map(|(of, _)| of[0]).collect());
    let quick_to = quickest(pairs.iter().map(|(_, to)| to[0]).collect());
    let (of, to, [low, ratio, high]) = wall;
    let verdict = if ratio <= line.most { "met" } else { "missed" };
    println!(
        "{:32} {of_name} {of:9.2} us  {to_name} {to:9.2} us  ratio {ratio:.3} ({low:.3} to {high:.3})  \
         at most {:.3}: {verdict}  [{} pairs of {each}; load {}]",
        line.name,
        line.most,
        pairs.len(),
        load(),
    );
    print!(
        "{:32} {of_name} {quick_of:9.2} us  {to_name} {quick_to:9.2} us  ratio {:.3}",
        "  the quickest tenth",
        quick_of / quick_to
    );
    let (of, to, [_, ratio_of_cpu, _]) = cpu;
    if !ratio_of_cpu.is_nan() {
        print!(";  calling thread {of:.2} and {to:.2} us, ratio {ratio_of_cpu:.3}");
    }
    println!();
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
        let quickest = tries.map(|spent| spent.wall).min().unwrap_or(batch);
        if quickest >= batch {
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

/// What so many take.
pub fn spent(run: &mut dyn FnMut(u64), times: u64) -> Spent {
    let before = clock::thread();
    let wall = time(run, times);
    let cpu = clock::thread().zip(before);
    Spent {
        wall,
        cpu: cpu.map(|(after, before)| after.saturating_sub(before)),
    }
}

/// What nine of ten exceed.
fn quickest(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 10]
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}
