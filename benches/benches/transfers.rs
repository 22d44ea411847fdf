//! Transfers between host and device, of a page and of 16 MB.

#![allow(missing_docs)] // the main function that criterion writes

use benches::{
    clients,
    side_by_side::{compare, Line},
};
use criterion::{criterion_group, criterion_main, Criterion};
use xla::Buffer;

/// Floats in 4 KB and in 16 MB.
const SIZES: [(&str, usize); 2] = [("4 KB", 1 << 10), ("16 MB", 4 << 20)];

fn transfers(criterion: &mut Criterion) {
    let (safe, raw) = clients(1);
    let device = safe.device(0).expect("a device");
    for (name, count) in SIZES {
        let values: Vec<f32> = (0..count).map(|n| n as f32).collect();

        let run_safe = |times| {
            for _ in 0..times {
                Buffer::from_host(&device, &values, &[count]).expect("a buffer");
            }
        };
        let run_raw = |times| {
            for _ in 0..times {
                let buffer = raw.from_host(0, &values, &[count as i64]);
                // SAFETY: just made.
                unsafe { raw.destroy(buffer) };
            }
        };
        let name_of = format!("from_host {name}");
        compare(criterion, Line::new(&name_of), run_safe, run_raw);

        let buffer = Buffer::from_host(&device, &values, &[count]).expect("a buffer");
        let raw_buffer = raw.from_host(0, &values, &[count as i64]);
        let run_raw = |times| {
            for _ in 0..times {
                // SAFETY: the buffer was made with `count` floats.
                let read = unsafe { raw.to_host(raw_buffer, count) };
                assert_eq!(read[count - 1], values[count - 1]);
            }
        };
        let run_safe = |times| {
            for _ in 0..times {
                let read = buffer.to_host::<f32>().expect("values");
                assert_eq!(read[count - 1], values[count - 1]);
            }
        };
        let name_of = format!("to_host {name}");
        compare(criterion, Line::new(&name_of), run_safe, run_raw);
    }
}

criterion_group!(all, transfers);
criterion_main!(all);
