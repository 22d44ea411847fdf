//! The smallest run there is: a scalar that is counted up, donated, and counted up
//! again. What the safe layer costs a call shows here and nowhere else as clearly.

#![allow(missing_docs)] // the main function that criterion writes

use benches::{
    clients, print_plugin,
    side_by_side::{compare, Line},
};
use criterion::{criterion_group, criterion_main, Criterion};
use xla::{Buffer, CompileOptions, Program};

const COUNTER: &str = include_str!("../../examples/programs/counter.mlir");

fn call(criterion: &mut Criterion) {
    let (safe, raw) = clients(1);
    print_plugin();

    let program = Program::from_text(COUNTER).expect("a program");
    let counter = safe.compile(&program, &CompileOptions::new());
    let counter = counter.expect("it compiles");
    let device = safe.device(0).expect("a device");
    let start = Buffer::scalar(&device, 0f32).expect("a scalar");
    let mut count = Some(start);
    let run_safe = |times| {
        for _ in 0..times {
            let before = count.take().expect("the count");
            let outputs = counter.run(before).expect("a run");
            count = Some(outputs.into_single().expect("an output"));
        }
    };

    let raw_counter = raw.compile(COUNTER, 1);
    let mut raw_count = raw.from_host(0, &[0f32], &[]);
    let run_raw = |times| {
        for _ in 0..times {
            let mut after = std::ptr::null_mut();
            // SAFETY: one argument and one output on one device; the donated argument's handle is
            // destroyed once.
            unsafe {
                raw.execute(raw_counter, &[&raw_count], 1, &[], &[&mut after], &mut []);
                raw.destroy(raw_count);
            }
            raw_count = after;
        }
    };
    let line = Line::new("scalar, donated, chained");
    compare(criterion, line, run_safe, run_raw);
}

criterion_group!(all, call);
criterion_main!(all);
