//! The rows of the table that a run gives: each is printed, and written to the file that
//! `XLA_BENCH_TABLE` names, from which `src/bin/table.rs` makes the README's.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;

use crate::side_by_side::{in_tries, is_measured, is_wanted, GROSS};

/// The file, in the environment.
pub const FILE: &str = "XLA_BENCH_TABLE";

/// The head of each section's table.
pub const HEAD: &str = "\
| line | this layer | beside it | ratio (middle half) | at most | | quickest tenth | calling thread |
|---|---:|---:|---|---:|---|---:|---:|";

static SECTION: OnceLock<&'static str> = OnceLock::new();

/// Begins a section, which a benchmark is. Whether it is to be measured: only if it is run as
/// one, which cargo says by an argument, and not as a test.
pub fn begin(section: &'static str) -> bool {
    if !is_measured() {
        return false;
    }
    let _ = SECTION.set(section);
    let (major, minor) = crate::plugin().api_version();
    println!("\n{section}, PJRT API {major}.{minor}");
    true
}

/// Writes a row to the file, if there is to be one.
///
/// # Panics
/// The file can't be written to.
pub fn write(cells: [String; 8]) {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let section = SECTION.get().copied().unwrap_or_default();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .expect("the table's file");
    writeln!(file, "{section}\t| {} |", cells.join(" | ")).expect("room for a row");
}

/// Whether a target holds, in a word.
pub(crate) fn verdict(met: bool) -> String {
    if met { "met" } else { "missed" }.to_owned()
}

/// A time of so many microseconds, to three digits or four.
pub(crate) fn time(micros: f64) -> String {
    match micros {
        _ if micros.is_nan() => String::new(),
        _ if micros.abs() < 1.0 => format!("{:.1} ns", micros * 1e3),
        _ if micros < 100.0 => format!("{micros:.2} us"),
        _ if micros < 1e4 => format!("{micros:.1} us"),
        _ if micros < 1e6 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// A number with its unit: of one below 1 that isn't to be lost.
fn number(of: f64, unit: &str) -> String {
    if of.abs() < 1. && of != 0. {
        format!("{of:.3} {unit}")
    } else {
        format!("{of:.1} {unit}")
    }
}

/// A number that is held against another, or against a limit by itself.
pub struct Figure<'a> {
    /// What it is of.
    pub name: &'a str,
    /// What it counts: `MiB`, `us`.
    pub unit: &'a str,
    /// What the other is called, and how much that is.
    pub beside: Option<(&'a str, f64)>,
    /// The most that the ratio to the other is to be; without another, that the number is.
    pub most: f64,
}

impl Figure<'_> {
    /// Prints and writes a number. Whether it is by far more than it is to be.
    ///
    /// # Panics
    /// The table's file can't be written to.
    pub fn report(&self, got: f64) -> bool {
        let Figure { unit, most, .. } = self;
        let ratio = self.beside.map(|(_, wanted)| got / wanted);
        let held = ratio.unwrap_or(got);
        let beside = self
            .beside
            .map(|(name, wanted)| format!("{name} {wanted:.1} {unit}"));
        let beside = beside.unwrap_or_default();
        let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"));
        let most_text = match self.beside {
            Some(_) => format!("{most:.3}"),
            None => format!("{most} {unit}"),
        };
        let met = held <= *most;
        println!(
            "{:44} {}  {beside}  {ratio}  at most {most_text}: {}",
            self.name,
            number(got, unit),
            verdict(met)
        );
        write([
            self.name.to_owned(),
            number(got, unit),
            beside,
            ratio,
            most_text,
            verdict(met),
            String::new(),
            String::new(),
        ]);
        held > GROSS * most
    }

    /// Prints and writes a number, if it is wanted.
    ///
    /// # Panics
    /// In a short run: it is more than twice the target in three tries.
    pub fn measure(&self, mut number: impl FnMut() -> f64) {
        if !is_wanted(self.name) {
            return;
        }
        in_tries(self.name, || !self.report(number()));
    }
}
