//! Uploads beside what the memory itself allows: a copy of 256 MB beside `memcpy`, sharing
//! instead of copying, and whole trees.

use std::hint::black_box;
use std::time::{Duration, Instant};

use benches::raw::Buffer as RawBuffer;
use benches::side_by_side::{compare, is_short, is_wanted, Line};
use benches::table::{begin, Figure};
use benches::{clients, raw};
use xla::{Buffer, Client, Device, HostArray, HostTree, HostVec};

/// Floats in 256 MB.
const LARGE: usize = 1 << 26;

fn main() {
    if !begin("Uploads") {
        return;
    }
    let (client, raw) = clients(1);
    let device = client.device(0).expect("a device");
    beside_memcpy(&device, raw);
    for (size, count) in [
        ("4 B", 1),
        ("4 KB", 1 << 10),
        ("4 MB", 1 << 20),
        ("256 MB", LARGE),
    ] {
        shared(&client, &device, size, count);
    }
    tree(&device, raw, "100 leaves of 4 B", 1);
    tree(&device, raw, "100 leaves of 4 KB", 1 << 10);
    tree(&device, raw, "100 leaves of 1 MB", 1 << 18);
}

/// Memory that the system has given and nobody has touched, written once, and given back: the
/// copy to a device does no less.
fn beside_memcpy(device: &Device, raw: raw::Client) {
    let names = ["safe", "raw"].map(|how| format!("256 MB to device, {how}, beside memcpy"));
    if !names.iter().any(|name| is_wanted(name)) {
        return;
    }
    let values: Vec<f32> = (0..LARGE).map(|n| n as f32).collect();
    let line = |number: usize| Line {
        name: &names[number],
        names: [["safe", "raw"][number], "memcpy"],
        // 0.9 of its speed.
        most: 1. / 0.9,
        batch: Duration::from_millis(20),
        apart: false,
    };
    let upload = |times| {
        for _ in 0..times {
            Buffer::from_host(device, &values, &[LARGE]).expect("a buffer");
        }
    };
    let by_hand = |times| {
        for _ in 0..times {
            let buffer = raw.from_host(0, &values, &[LARGE as i64]);
            // SAFETY: just made.
            unsafe { raw.destroy(buffer) };
        }
    };
    let mut copy = |times| {
        for _ in 0..times {
            let mut copy = Vec::<f32>::with_capacity(LARGE);
            copy.extend_from_slice(&values);
            black_box(&copy);
        }
    };
    compare(line(0), upload, &mut copy);
    // The layer can be no quicker than this.
    if !is_short() {
        compare(line(1), by_hand, &mut copy);
    }
}

/// What the call takes in which a device comes to share memory, whatever its size.
fn shared(client: &Client, device: &Device, size: &str, count: usize) {
    let rounds = if is_short() || count == LARGE {
        16
    } else {
        512
    };
    // To make a large array clears it, and so empties the caches of all that the call needs.
    let warm_up = || {
        for _ in 0..4 {
            let one = HostVec::<f32>::zeroed(1);
            Buffer::from_host_vec(device, one, &[1]).expect("a buffer");
        }
    };
    let figure = |name: &str, call: &mut dyn FnMut() -> Duration| {
        let figure = Figure {
            name,
            unit: "us",
            beside: None,
            most: 20.,
        };
        figure.measure(|| {
            call();
            let times = (0..rounds).map(|_| call().as_secs_f64() * 1e6);
            let mut times: Vec<f64> = times.collect();
            times.sort_by(f64::total_cmp);
            times[rounds / 2]
        });
    };
    figure(
        &format!("{size} given without a copy, the call"),
        &mut || {
            let values = HostVec::<f32>::zeroed(count);
            warm_up();
            let start = Instant::now();
            let buffer = Buffer::from_host_vec(device, values, &[count]).expect("a buffer");
            let time = start.elapsed();
            assert!(buffer.is_zero_copy(), "a CPU shares aligned memory");
            time
        },
    );
    let values = HostVec::<f32>::zeroed(count);
    figure(
        &format!("{size} lent without a copy, the call"),
        &mut || {
            client.scope(|scope| {
                let start = Instant::now();
                let buffer = scope.borrow(device, &values, &[count]).expect("a buffer");
                let time = start.elapsed();
                assert!(buffer.is_zero_copy(), "a CPU shares aligned memory");
                time
            })
        },
    );
}

/// A tree of a hundred equal leaves in one call, beside as many calls by hand.
fn tree(device: &Device, raw: raw::Client, what: &str, count: usize) {
    let name = format!("a tree to device, {what}");
    if !is_wanted(&name) {
        return;
    }
    let values: Vec<f32> = (0..count).map(|n| n as f32).collect();
    let leaves = (0..100).map(|_| HostArray::borrowed(&values, &[count]).expect("an array"));
    let host: HostTree<'_, [Buffer; 100]> = HostTree::new(leaves).expect("a tree");
    let upload = |times| {
        for _ in 0..times {
            host.to_device(device).expect("room");
        }
    };
    let by_hand = |times| {
        for _ in 0..times {
            let leaves = (0..100).map(|_| raw.from_host(0, &values, &[count as i64]));
            let leaves: Vec<RawBuffer> = leaves.collect();
            for leaf in leaves {
                // SAFETY: just made.
                unsafe { raw.destroy(leaf) };
            }
        }
    };
    compare(Line::new(&name), upload, by_hand);
}
