//! What it costs to count a buffer in the client's account.
//!
//! It can't be switched off. But a buffer with a label is counted once more than one without,
//! in a tally of the same kind by the same code, with a look for the label's row on top of it.
//! So what labelled buffers take longer is what an entry costs, and rather more.
//!
//! The buffers are uploaded scalars: all of their life happens on the calling thread, and
//! nothing hides behind what a device does meanwhile.

use std::time::Duration;

use benches::client;
use benches::side_by_side::{pairs, spent};
use benches::table::{begin, Figure};
use xla::Buffer;

fn main() {
    if !begin("The account") {
        return;
    }
    let device = client(1).device(0).expect("a device");
    let make_and_drop = |times| {
        for _ in 0..times {
            Buffer::scalar(&device, 0f32).expect("a scalar");
        }
    };
    let mut plain = |times| spent(&mut { make_and_drop }, times);
    let mut labelled = |times| {
        let _label = xla::label("measured");
        spent(&mut { make_and_drop }, times)
    };
    let figure = Figure {
        name: "an entry: a buffer with a label less one without",
        unit: "ns",
        beside: None,
        most: 25.,
    };
    // Short batches, many of them: it is a small difference.
    let batch = Duration::from_micros(50);
    figure.measure(|| pairs(batch, &mut labelled, &mut plain).difference() * 1e3);
}
