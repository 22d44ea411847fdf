//! A training loop in which nobody waits for what could be done meanwhile.
//!
//! ```sh
//! cargo run --release --features fetch-cpu --example 12_overlap
//! ```
//!
//! A step needs a batch, which lies packed in host memory: it is unpacked, uploaded, trained on,
//! and the loss is read back. In sequence the device waits for the host, and the host for the
//! device. But a call returns when the run is enqueued, an upload when it is started, and a
//! read-back is a promise of values: so, while the device is at a step, the host makes and sends
//! the next batch and takes the loss of the step before. At best a step then takes as long as the
//! longer of the two, the host's work or the device's.
//!
//! The loop is here three times: in sequence; on one thread, as an `async` function; and with a
//! second thread for the batches ([`Prefetch`](xla::Prefetch)). How much is gained depends on the
//! machine:
//!
//! - A CPU does all of it with the same cores, and an upload is a copy in memory. There must be a
//!   core that the step leaves idle, as this one does: its matrices are too small to be cut up. Then
//!   unpacking and copying come for nothing, and that is all. On a single core, or beside programs
//!   that keep the others busy, nothing is gained.
//! - The CPU plugin of API 0.81 makes a run that donates inside the call. There the loop on one
//!   thread gains nothing, and the one with a second thread does.
//! - Beside an accelerator all cores are the host's, and uploads and reads go over a bus while it
//!   computes: it needn't wait between steps. (No number of this page is from one.)
//!
//! No runtime is needed. Events and read-backs are futures that any executor can drive; the one at
//! the end of this file has a dozen lines.

use std::future::Future;
use std::io::{Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use anyhow::{ensure, Result};
use flate2::{read::DeflateDecoder, write::DeflateEncoder, Compression};
use xla::{
    Buffer, Client, CompileOptions, Device, Function, Give, HostRead, Prefetch, Program, Tree,
};

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

/// The state stays in its memory from step to step. A batch is given too: it is used once.
type Step = Function<(Give<State>, Give<Batch>), (State, Buffer)>;

// Those of `programs/overlap.py`.
const FRAMES: usize = 32;
const ROWS: usize = 64;
const FEATURES: usize = 96;
const HIDDEN: usize = 16;

/// How often each loop is run. The fastest counts: machines have other things to do.
const ROUNDS: usize = 12;

fn main() -> Result<()> {
    let oracle: serde_json::Value =
        serde_json::from_str(include_str!("programs/oracle/overlap.json"))?;
    let wanted: Vec<f32> = serde_json::from_value(oracle["losses"].clone())?;
    let data = (0..wanted.len()).map(packed).collect::<Result<Vec<_>>>()?;

    let client = Client::cpu()?;
    let device = client.device(0)?;
    let program = Program::from_text(include_str!("programs/overlap.mlir"))?;
    let step: Step = client
        .compile(&program, &CompileOptions::new())?
        .typed()?
        .with_names(&["state", "batch"]);

    let (mut fastest, mut parts) = ([Duration::MAX; 3], [Duration::ZERO; 3]);
    for _ in 0..ROUNDS {
        let mut sum = [Duration::ZERO; 3];
        let loops: [&mut dyn FnMut() -> Result<Vec<f32>>; 3] = [
            &mut || in_sequence(&device, &step, &data, &mut sum),
            &mut || block_on(overlapped(&device, &step, &data)),
            &mut || with_a_thread(&device, &step, &data),
        ];
        let mut first = None;
        for (train, fastest) in loops.into_iter().zip(&mut fastest) {
            let start = Instant::now();
            let losses = train()?;
            *fastest = start.elapsed().min(*fastest);
            for (loss, wanted) in losses.iter().zip(&wanted) {
                ensure!((loss - wanted).abs() <= 1e-5, "{loss} instead of {wanted}");
            }
            // The same work at other times: the same bits.
            ensure!(
                *first.get_or_insert(losses.clone()) == losses,
                "other losses"
            );
        }
        if sum.iter().sum::<Duration>() <= fastest[0] {
            parts = sum;
        }
    }

    println!(
        "loss {:.4}, {} steps later {:.4}; on {} cores a step takes",
        wanted[0],
        data.len(),
        wanted[data.len() - 1],
        thread::available_parallelism()?
    );
    let each = |time: Duration| time.as_secs_f64() * 1e3 / data.len() as f64;
    let [sequence, overlapped, threads] = fastest.map(each);
    let [unpack, upload, train] = parts.map(each);
    println!("{sequence:.3} ms in sequence: {unpack:.3} unpacking, {upload:.3} uploading, {train:.3} training");
    for (time, how) in [
        (overlapped, "overlapped"),
        (threads, "with a second thread"),
    ] {
        println!("{time:.3} ms {how}: {:.2} times as fast", sequence / time);
    }
    Ok(())
}

/// One thing after another. Adds up how long each kind of work takes.
fn in_sequence(
    device: &Device,
    step: &Step,
    data: &[Vec<u8>],
    [unpacking, uploading, training]: &mut [Duration; 3],
) -> Result<Vec<f32>> {
    let mut state = first_state(device)?;
    let mut losses = Vec::new();
    for packed in data {
        let start = Instant::now();
        let (x, y) = unpack(packed)?;
        let unpacked = Instant::now();
        let batch = upload(device, x, y)?;
        batch.x.wait()?;
        batch.y.wait()?;
        let uploaded = Instant::now();
        let loss;
        (state, loss) = step.call((state, batch))?;
        losses.push(loss.to_scalar()?);
        *unpacking += unpacked - start;
        *uploading += uploaded - unpacked;
        *training += uploaded.elapsed();
    }
    Ok(losses)
}

/// The same, but nobody waits for what could be done meanwhile.
async fn overlapped(device: &Device, step: &Step, data: &[Vec<u8>]) -> Result<Vec<f32>> {
    let mut state = first_state(device)?;
    let mut losses = Vec::new();
    let mut before: Option<HostRead<f32>> = None;
    // Made when it is asked for.
    let mut batches = data.iter().map(|packed| batch_of(device, packed));
    let mut next = batches.next();
    while let Some(batch) = next {
        // Back at once: the run begins when state and batch are there.
        let loss;
        (state, loss) = step.call((state, batch?))?;
        let read = loss.to_host_async()?;
        // The device is at work meanwhile.
        next = batches.next();
        // The loss of the step before has been there for a while. Who waits for it can't run away
        // from the device: no more than two steps are under way.
        if let Some(read) = before.replace(read) {
            losses.extend(read.await?);
        }
    }
    if let Some(read) = before {
        losses.extend(read.await?);
    }
    // An event is a future, too.
    state.w_out.ready()?.await?;
    Ok(losses)
}

/// The same, but batches are made on a thread of their own: at most two before they are asked for.
fn with_a_thread(device: &Device, step: &Step, data: &[Vec<u8>]) -> Result<Vec<f32>> {
    thread::scope(|scope| {
        let mut state = first_state(device)?;
        let mut losses = Vec::new();
        let mut before: Option<HostRead<f32>> = None;
        let batches = data.iter().map(|packed| batch_of(device, packed));
        for batch in Prefetch::scoped(scope, 2, batches)? {
            let loss;
            (state, loss) = step.call((state, batch?))?;
            if let Some(read) = before.replace(loss.to_host_async()?) {
                losses.extend(read.wait()?);
            }
        }
        if let Some(read) = before {
            losses.extend(read.wait()?);
        }
        Ok(losses)
    })
}

fn batch_of(device: &Device, packed: &[u8]) -> Result<Batch> {
    let (x, y) = unpack(packed)?;
    upload(device, x, y)
}

/// Starts the upload of a batch. It has memory of its own, which is dropped when the device has
/// read it; the events that tell when that was can be awaited, and needn't be.
fn upload(device: &Device, x: Vec<f32>, y: Vec<f32>) -> Result<Batch> {
    let (x, _x_read) = Buffer::from_host_async(device, x, &[FRAMES, ROWS, FEATURES])?;
    let (y, _y_read) = Buffer::from_host_async(device, y, &[ROWS])?;
    Ok(Batch { x, y })
}

/// What a batch lies in memory as: packed bytes. The formula is that of `programs/overlap.py`.
fn packed(step: usize) -> Result<Vec<u8>> {
    let count = (FRAMES * ROWS * FEATURES) as u32;
    let bytes = (0..count).map(|place| {
        let mixed = (place + step as u32 * count).wrapping_mul(2654435761);
        ((mixed ^ mixed >> 15).wrapping_mul(2246822519) >> 26) as u8
    });
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&bytes.collect::<Vec<_>>())?;
    Ok(encoder.finish()?)
}

/// The frames of a batch and what is to be learnt: the first number of each row's last frame.
fn unpack(packed: &[u8]) -> Result<(Vec<f32>, Vec<f32>)> {
    let mut bytes = Vec::with_capacity(FRAMES * ROWS * FEATURES);
    DeflateDecoder::new(packed).read_to_end(&mut bytes)?;
    let x: Vec<f32> = bytes
        .iter()
        .map(|byte| (f32::from(*byte) - 32.) / 32.)
        .collect();
    let last = &x[(FRAMES - 1) * ROWS * FEATURES..];
    let y = last.iter().step_by(FEATURES).copied().collect();
    Ok((x, y))
}

fn first_state(device: &Device) -> Result<State> {
    let weights = |dims: &[usize], divisor: f32| {
        let number = |i| ((i * 37 % 64) as f32 - 32.) / 32. / divisor;
        let values: Vec<f32> = (0..dims.iter().product()).map(number).collect();
        Buffer::from_host(device, &values, dims)
    };
    Ok(State {
        w_in: weights(&[FEATURES, HIDDEN], 16.)?,
        w_back: weights(&[HIDDEN, HIDDEN], 16.)?,
        w_out: weights(&[HIDDEN], 8.)?,
    })
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A small executor: sleeps until the future can go on.
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
