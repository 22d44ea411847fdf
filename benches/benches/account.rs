//! What it costs to count a buffer in the client's account.
//!
//! It can't be switched off. But a buffer with a label is counted once more than one without,
//! in a tally of the same kind by the same code, with a look for the label's row on top of it.
//! So what labelled buffers take longer is what an entry costs, and rather more.

use std::time::Duration;

use benches::client;
use benches::programs::{compiled, counters};
use benches::side_by_side::{is_short, pairs, spent};
use benches::table::{begin, Figure};
use xla::Buffer;

/// How many buffers a run makes, which are then dropped.
const OUTPUTS: usize = 64;

fn main() {
    if !begin("The account") {
        return;
    }
    let client = client(1);
    let device = client.device(0).expect("a device");
    let program = compiled(&client, counters(OUTPUTS, false));
    let inputs: Vec<Buffer> = (0..OUTPUTS)
        .map(|_| Buffer::scalar(&device, 0f32).expect("a scalar"))
        .collect();
    let run = |times| {
        let mut last = None;
        for _ in 0..times {
            last = Some(program.run(&inputs[..]).expect("a run").into_vec());
        }
        let last = last.as_ref().and_then(|outputs| outputs.last());
        last.iter().for_each(|output| output.wait().expect("a run"));
    };
    let mut plain = |times| spent(&mut { run }, times);
    let mut labelled = |times| {
        let _label = xla::label("measured");
        spent(&mut { run }, times)
    };
    let figure = Figure {
        name: "an entry: a buffer with a label less one without",
        unit: "ns",
        beside: None,
        most: 25.,
    };
    // Short batches, many of them: it is a small difference.
    let batch = Duration::from_micros(if is_short() { 200 } else { 500 });
    figure.measure(|| {
        let pairs = pairs(batch, &mut labelled, &mut plain);
        pairs.difference() * 1e3 / OUTPUTS as f64
    });
}
