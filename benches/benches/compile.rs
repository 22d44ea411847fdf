//! Compiling a program, making bytes of it and loading them.

use std::time::Duration;

use benches::clients;
use benches::programs::{compiled, example};
use benches::raw::{self, Parallel};
use benches::side_by_side::{compare, is_short, is_wanted, Line};
use benches::table::begin;
use xla::Client;

fn main() {
    if !begin("Compiling and loading") {
        return;
    }
    let (safe, raw) = clients(1);
    measure(&safe, raw, "counter", Parallel::Replicas(1));
    // Takes a second a time.
    if !is_short() {
        measure(&safe, raw, "train_step_1", Parallel::Partitions(1));
    }
}

fn line(name: &str) -> Line<'_> {
    Line {
        batch: Duration::from_millis(10),
        ..Line::new(name)
    }
}

fn measure(safe: &Client, raw: raw::Client, program: &str, parallel: Parallel) {
    let text = example(program);
    let name = format!("compile {program}");
    let compile = |times| {
        for _ in 0..times {
            compiled(safe, text.clone());
        }
    };
    let by_hand = |times| {
        for _ in 0..times {
            // SAFETY: just made.
            unsafe { raw.destroy_executable(raw.compile(&text, parallel)) };
        }
    };
    compare(line(&name), compile, by_hand);

    let names = ["serialize", "load"].map(|what| format!("{what} {program}"));
    if !names.iter().any(|name| is_wanted(name)) {
        return;
    }
    let executable = compiled(safe, text.clone());
    let raw_executable = raw.compile(&text, parallel);
    let serialize = |times| {
        for _ in 0..times {
            executable.serialize().expect("bytes");
        }
    };
    let by_hand = |times| {
        for _ in 0..times {
            // SAFETY: compiled above.
            unsafe { raw.serialize(raw_executable) };
        }
    };
    compare(line(&names[0]), serialize, by_hand);

    let bytes = executable.serialize().expect("bytes");
    // SAFETY: compiled above.
    let raw_bytes = unsafe { raw.serialize(raw_executable) };
    let load = |times| {
        for _ in 0..times {
            safe.deserialize(&bytes).expect("it loads");
        }
    };
    let by_hand = |times| {
        for _ in 0..times {
            // SAFETY: just made.
            unsafe { raw.destroy_executable(raw.deserialize(&raw_bytes)) };
        }
    };
    compare(line(&names[1]), load, by_hand);
}
