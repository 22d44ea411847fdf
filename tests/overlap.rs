//! A training loop whose uploads, steps and reads overlap: the losses are those of the same
//! loop in sequence, and JAX's.

mod cpu;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use cpu::{
    api_minor, client, compiled, compiled_text, device, until_pending, values, SLOW, SLOW_LENGTH,
};
use serde_json::Value;
use xla::{Buffer, Client, Device, Function, Give, HostRead, Prefetch, Tree};

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls again when it was woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[derive(Tree)]
struct State {
    w_in: Buffer,
    w_back: Buffer,
    w_out: Buffer,
}

#[derive(Tree)]
struct Batch {
    x: Buffer,
    y: Buffer,
}

type Step = Function<(Give<State>, Give<Batch>), (State, Buffer)>;

const FRAMES: usize = 32;
const ROWS: usize = 64;
const FEATURES: usize = 96;
const HIDDEN: usize = 16;

/// As in `examples/programs/overlap.py`.
fn batch(device: &Device, step: usize) -> Batch {
    let count = (FRAMES * ROWS * FEATURES) as u32;
    let number = |place: u32| {
        let mixed = (place + step as u32 * count).wrapping_mul(2654435761);
        let byte = ((mixed ^ (mixed >> 15)).wrapping_mul(2246822519)) >> 26;
        (byte as f32 - 32.) / 32.
    };
    let x: Vec<f32> = (0..count).map(number).collect();
    let last = &x[(FRAMES - 1) * ROWS * FEATURES..];
    let y: Vec<f32> = last.iter().step_by(FEATURES).copied().collect();
    let (x, _) = Buffer::from_host_async(device, x, &[FRAMES, ROWS, FEATURES]).expect("room");
    let (y, _) = Buffer::from_host_async(device, y, &[ROWS]).expect("room");
    Batch { x, y }
}

fn first_state(device: &Device) -> State {
    let weights = |dims: &[usize], divisor: f32| {
        let number = |i| ((i * 37 % 64) as f32 - 32.) / 32. / divisor;
        let values: Vec<f32> = (0..dims.iter().product()).map(number).collect();
        Buffer::from_host(device, &values, dims).expect("room")
    };
    State {
        w_in: weights(&[FEATURES, HIDDEN], 16.),
        w_back: weights(&[HIDDEN, HIDDEN], 16.),
        w_out: weights(&[HIDDEN], 8.),
    }
}

#[test]
fn a_donating_call_returns_before_its_run_is_over() {
    let (client, device) = one_device();
    let x = "%x: tensor<4096xf32>";
    let donated = SLOW.replace(x, &format!("{x} {{tf.aliasing_output = 0 : i32}}"));
    let slow = compiled_text(&client, &donated);
    let start = |rounds: i32| {
        let ones = [1f32; SLOW_LENGTH];
        let x = Buffer::from_host(&device, &ones, &[SLOW_LENGTH]).expect("room");
        let n = Buffer::scalar(&device, rounds).expect("room");
        x.wait().and_then(|()| n.wait()).expect("uploaded");
        let sum = slow.run((x, &n)).expect("runs").into_single().expect("one");
        let pending = !sum.is_ready().expect("known");
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        pending
    };
    if api_minor(&client) == 81 {
        // Fact 30: the call runs it. Outputs may be told ready a moment later.
        start(50_000);
    } else {
        until_pending(start);
    }
}

#[test]
fn overlapped_steps_give_the_losses_of_steps_in_sequence() {
    let oracle = include_str!("../examples/programs/oracle/overlap.json");
    let oracle: Value = serde_json::from_str(oracle).expect("JSON");
    let wanted: Vec<f32> = serde_json::from_value(oracle["losses"].clone()).expect("numbers");
    let (client, device) = one_device();
    let step: Step = compiled(&client, "overlap").typed().expect("it fits");
    let steps = wanted.len();

    let mut state = first_state(&device);
    let mut in_sequence = Vec::new();
    for number in 0..steps {
        let batch = batch(&device, number);
        batch.x.wait().expect("uploaded");
        let loss;
        (state, loss) = step.call((state, batch)).expect("runs");
        in_sequence.push(loss.to_scalar::<f32>().expect("a value"));
    }

    // Batches are made while a step is under way, and losses are read a step late.
    let overlapped = block_on(async {
        let mut state = first_state(&device);
        let mut losses = Vec::new();
        let mut before: Option<HostRead<f32>> = None;
        let mut next = batch(&device, 0);
        for number in 0..steps {
            let loss;
            (state, loss) = step.call((state, next)).expect("runs");
            let read = loss.to_host_async().expect("starts");
            next = batch(&device, (number + 1) % steps);
            if let Some(read) = before.replace(read) {
                losses.extend(read.await.expect("a value"));
            }
        }
        losses.extend(before.expect("the last").await.expect("a value"));
        losses
    });

    // Nothing is read before the end, and batches come from another thread.
    let made = {
        let device = device.clone();
        (0..steps).map(move |number| batch(&device, number))
    };
    let mut state = first_state(&device);
    let mut reads = Vec::new();
    for batch in Prefetch::new(2, made).expect("a thread") {
        let loss;
        (state, loss) = step.call((state, batch)).expect("runs");
        reads.push(loss.to_host_async::<f32>().expect("starts"));
    }
    let late = reads
        .into_iter()
        .map(|read| read.wait().expect("a value")[0]);

    for (number, (loss, wanted)) in in_sequence.iter().zip(&wanted).enumerate() {
        assert!(
            (loss - wanted).abs() <= 1e-5,
            "{loss} instead of {wanted} at {number}"
        );
    }
    assert_eq!(overlapped, in_sequence);
    assert_eq!(late.collect::<Vec<f32>>(), in_sequence);
}
