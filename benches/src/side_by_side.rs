//! Measures two ways of doing one thing.
//!
//! One after the other they would meet different clock speeds, caches and neighbours.
//! So both take turns in short batches, and every batch of one is compared with the
//! batch of the other right beside it.

use std::time::{Duration, Instant};

use crate::{clock, table};

/// What is compared.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// What both do.
    pub name: &'a str,
    /// What the two are called.
    pub names: [&'a str; 2],
    /// The ratio that is aimed at: the first's time to the second's is to be at most this.
    /// Infinite where nothing is.
    pub most: f64,
    /// How long one batch takes, about.
    pub batch: Duration,
    /// Whether the two run in processes of their own. Then their batches are equally long, and
    /// not of equal size: the quicker one's would be over before the caches are its own again,
    /// which the other has filled meanwhile.
    pub apart: bool,
}

impl<'a> Line<'a> {
    /// The safe layer beside the raw API.
    pub fn new(name: &'a str) -> Line<'a> {
        Line {
            name,
            names: ["safe", "raw"],
            most: 1.10,
            batch: Duration::from_micros(250),
            apart: false,
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

/// Above this ratio a short run fails, if it is so in each try.
pub(crate) const GROSS: f64 = 2.0;
/// A neighbour may spoil one or two.
const TRIES: usize = 3;

/// Measures a line, if it is wanted: prints the medians and their ratio, and writes them to
/// the table. Both do the thing as often as they are told.
///
/// # Panics
/// In a short run: the ratio is above 2 in three tries.
pub fn compare(line: Line<'_>, mut of: impl FnMut(u64), mut to: impl FnMut(u64)) {
    compare_timed(line, |n| spent(&mut of, n), |n| spent(&mut to, n));
}

/// As [`compare`], of two that measure themselves.
pub fn compare_timed(
    line: Line<'_>,
    mut of: impl FnMut(u64) -> Spent,
    mut to: impl FnMut(u64) -> Spent,
) {
    if !is_wanted(line.name) {
        return;
    }
    in_tries(line.name, || {
        let pairs = pairs_of(line, &mut of, &mut to);
        report(line, &pairs) <= GROSS.max(line.most)
    });
}

/// Measures once, and in a short run as often as it takes to be not by far off.
///
/// # Panics
/// In a short run: it is by far off in three tries.
pub fn in_tries(name: &str, mut is_close: impl FnMut() -> bool) {
    let tries = if is_short() { TRIES } else { 1 };
    let close = (0..tries).any(|_| is_close());
    assert!(
        close || !is_short(),
        "{name}: more than {GROSS} times in {TRIES} tries"
    );
}

/// Whether this is run as a benchmark: without this argument, which cargo gives, it is a test.
pub fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

type Timed<'a> = &'a mut dyn FnMut(u64) -> Spent;

/// What a batch takes.
#[derive(Clone, Copy)]
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

/// Batches of the two side by side: each one's microseconds by wall and on the calling thread.
pub struct Pairs {
    times: Vec<([f64; 2], [f64; 2])>,
    /// How many a batch of either has.
    sizes: [u64; 2],
}

/// Lets both take turns for a while. `to` says how many make a batch of that length.
pub fn pairs(batch: Duration, of: Timed<'_>, to: Timed<'_>) -> Pairs {
    let size = batch_size(to, batch);
    take_turns([size, size], of, to)
}

fn pairs_of(line: Line<'_>, of: Timed<'_>, to: Timed<'_>) -> Pairs {
    if !line.apart {
        return pairs(line.batch, of, to);
    }
    let sizes = [batch_size(of, line.batch), batch_size(to, line.batch)];
    take_turns(sizes, of, to)
}

fn take_turns(sizes: [u64; 2], of: Timed<'_>, to: Timed<'_>) -> Pairs {
    // All batches together, about.
    let total = Duration::from_millis(if is_short() { 120 } else { 1500 });
    let fewest = if is_short() { 4 } else { 8 };
    let mut times = Vec::new();
    let [of_size, to_size] = sizes;
    let mut round = || {
        // One, other, other, one: what drifts over the four hits both alike.
        let first_of = of(of_size).micros(of_size);
        let first_to = to(to_size).micros(to_size);
        let second_to = to(to_size).micros(to_size);
        let second_of = of(of_size).micros(of_size);
        [(first_of, first_to), (second_of, second_to)]
    };
    // The first fills caches and meets fresh memory.
    round();
    let start = Instant::now();
    while start.elapsed() < total || times.len() < fewest {
        times.extend(round());
    }
    Pairs { times, sizes }
}

impl Pairs {
    /// Of times that were measured elsewhere, each of one run.
    pub fn of(times: &[(Spent, Spent)]) -> Pairs {
        let times = times.iter();
        Pairs {
            times: times.map(|(of, to)| (of.micros(1), to.micros(1))).collect(),
            sizes: [1, 1],
        }
    }

    /// The median of what the calling thread has to do more for the first than for the second,
    /// in microseconds. Of wall time, a part would hide behind what the devices do meanwhile.
    pub fn difference(&self) -> f64 {
        let differences = self.times.iter().map(|(of, to)| of[1] - to[1]);
        quartiles(differences.collect())[1]
    }
}

/// Prints a line of medians, and one of what neighbours disturb less: the quickest batches,
/// and the time on the calling thread where it is known. The lesser of the median ratio and that
/// of the quickest: what is slow by itself, and not by a neighbour, is so in both.
pub fn report(line: Line<'_>, pairs: &Pairs) -> f64 {
    let [of_name, to_name] = line.names;
    let Pairs { times, sizes } = pairs;
    let middle = |values: &mut dyn Iterator<Item = f64>| quartiles(values.collect());
    let [wall, cpu] = [0, 1].map(|kind| {
        let [_, of, _] = middle(&mut times.iter().map(|(of, _)| of[kind]));
        let [_, to, _] = middle(&mut times.iter().map(|(_, to)| to[kind]));
        let ratios = middle(&mut times.iter().map(|(of, to)| of[kind] / to[kind]));
        (of, to, ratios)
    });
    let quick_of = quickest(times.iter().map(|(of, _)| of[0]).collect());
    let quick_to = quickest(times.iter().map(|(_, to)| to[0]).collect());
    let quick_ratio = quick_of / quick_to;
    let (of, to, [low, ratio, high]) = wall;
    let (most, verdict) = match line.most {
        f64::INFINITY => (String::new(), String::new()),
        most => (format!("{most:.3}"), table::verdict(ratio <= most)),
    };
    let [of, to] = [of, to].map(table::time);
    println!(
        "{:40} {of_name} {of}  {to_name} {to}  ratio {ratio:.3} ({low:.3} to {high:.3})  \
         at most {most}: {verdict}  [{} pairs of {}; load {}]",
        line.name,
        times.len(),
        match *sizes {
            [of, to] if of == to => of.to_string(),
            [of, to] => format!("{of} and {to}"),
        },
        load(),
    );
    let [quick_of, quick_to] = [quick_of, quick_to].map(table::time);
    print!("  the quickest tenth  {quick_of} and {quick_to}, ratio {quick_ratio:.3}");
    let (cpu_of, cpu_to, [_, cpu_ratio, _]) = cpu;
    let mut cpu_cell = String::new();
    if !cpu_ratio.is_nan() {
        let [cpu_of, cpu_to] = [cpu_of, cpu_to].map(table::time);
        print!(";  calling thread {cpu_of} and {cpu_to}, ratio {cpu_ratio:.3}");
        cpu_cell = format!("{cpu_ratio:.3}");
    }
    println!();
    table::write([
        line.name.to_owned(),
        of,
        format!("{to_name} {to}"),
        format!("{ratio:.3} ({low:.3} to {high:.3})"),
        most,
        verdict,
        format!("{quick_ratio:.3}"),
        cpu_cell,
    ]);
    ratio.min(quick_ratio)
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
