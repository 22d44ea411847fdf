//! The exported programs, and the buffers that go in and out.
//!
//! JAX has written each program once for every number of devices, by
//! `examples/programs/export.py`. What a step changes is donated: it is passed by
//! value here, and comes back new in the same memory. What it only reads is lent.

use anyhow::{bail, ensure, Context, Result};
use xla::{Buffer, Client, CompileOptions, Device, Executable, HostRead, Program};

use super::data::{Images, PIXELS};
use super::snapshot::{Snapshot, Tensor};

/// Weights and biases of three layers.
const PARAMS: usize = 6;
/// Those, Adam's two moments of each, and the number of the step.
const MODEL: usize = 3 * PARAMS + 1;
/// Sums over images: the loss, the right answers, the images themselves.
const METRICS: usize = 3;

/// One list of buffers for each device.
type PerDevice = Vec<Vec<Buffer>>;

/// What a step changes. Every device has all of it.
pub struct State {
    /// Weights, Adam's two moments of each, and the number of the step.
    model: PerDevice,
    /// What the steps have summed up since the sums were zero.
    metrics: PerDevice,
}

/// Images and labels: each device has its share.
pub struct Batch(PerDevice);

/// How a network did on some images.
#[derive(Clone, Copy)]
pub struct Metrics {
    loss_sum: f32,
    correct: i32,
    seen: i32,
}

impl Metrics {
    /// From the outputs of one device: what they count is summed over all.
    fn read(buffers: &[Buffer]) -> Result<Metrics> {
        let [loss_sum, correct, seen] = buffers else {
            bail!("{METRICS} metrics were expected, not {}", buffers.len());
        };
        Ok(Metrics {
            loss_sum: loss_sum.to_scalar()?,
            correct: correct.to_scalar()?,
            seen: seen.to_scalar()?,
        })
    }

    /// The mean loss of an image.
    pub fn loss(&self) -> f32 {
        self.loss_sum / self.seen as f32
    }

    /// The share of images whose digit was seen.
    pub fn accuracy(&self) -> f64 {
        f64::from(self.correct) / f64::from(self.seen)
    }
}

/// The text of a program for a number of devices.
macro_rules! for_devices {
    ($devices:expr, $name:literal, $ending:literal) => {
        match $devices {
            1 => include_str!(concat!("../programs/", $name, "_1", $ending)),
            2 => include_str!(concat!("../programs/", $name, "_2", $ending)),
            4 => include_str!(concat!("../programs/", $name, "_4", $ending)),
            8 => include_str!(concat!("../programs/", $name, "_8", $ending)),
            other => bail!("there is no `{}` for {other} devices", $name),
        }
    };
}

/// The programs, compiled.
pub struct Programs {
    init: Executable,
    shuffle: Executable,
    step: Executable,
    evaluate: Executable,
}

impl Programs {
    /// Compiles all that training on so many devices takes.
    pub fn compile(client: &Client, devices: usize) -> Result<Programs> {
        let compiled = |text: &str| -> Result<Executable> {
            let program = Program::from_text(text)?;
            Ok(client.compile(&program, &CompileOptions::new())?)
        };
        let step = compiled(for_devices!(devices, "train_step", ".mlir"))?;
        ensure!(step.signature().inputs().len() == MODEL + METRICS + 2);
        ensure!(step.signature().outputs().len() == MODEL + METRICS + 1);
        Ok(Programs {
            init: compiled(include_str!("../programs/init.mlir"))?,
            shuffle: compiled(include_str!("../programs/shuffle.mlir"))?,
            evaluate: compiled(for_devices!(devices, "evaluate", ".mlir"))?,
            step,
        })
    }

    /// The step as it would be without donation, to see the difference.
    pub fn undonated(client: &Client, devices: usize) -> Result<Executable> {
        let text = for_devices!(devices, "train_step", "_undonated.mlir");
        Ok(client.compile(&Program::from_text(text)?, &CompileOptions::new())?)
    }

    /// The step with donation.
    pub fn train_step(&self) -> &Executable {
        &self.step
    }

    fn devices(&self) -> &[Device] {
        self.step.devices()
    }

    /// How many images a step takes.
    pub fn batch_size(&self) -> usize {
        self.share_of(&self.step) * self.devices().len()
    }

    /// The state before the first step.
    pub fn init(&self, seed: u32) -> Result<State> {
        let seed = Buffer::scalar(&self.init.devices()[0], seed)?;
        let model = self.init.run(&seed)?;
        self.restore(&self.to_snapshot(&model)?)
    }

    /// The order in which an epoch takes the images; the first has the number 0.
    pub fn order(&self, seed: u32, epoch: u32) -> Result<Vec<i32>> {
        let device = &self.shuffle.devices()[0];
        let seed = Buffer::scalar(device, seed)?;
        let epoch = Buffer::scalar(device, epoch)?;
        Ok(self.shuffle.run((&seed, &epoch))?[0].to_host()?)
    }

    /// Images for a step: as many as [`batch_size`](Self::batch_size) says.
    pub fn batch(&self, images: &Images) -> Result<Batch> {
        self.split(images, self.share_of(&self.step))
    }

    /// Images for an evaluation: at most as many as its program takes.
    pub fn evaluation_batch(&self, images: &Images) -> Result<Batch> {
        let share = self.share_of(&self.evaluate);
        self.split(&images.padded(share * self.devices().len()), share)
    }

    /// Images that each device takes: the program's next to last argument has them.
    fn share_of(&self, program: &Executable) -> usize {
        let inputs = program.signature().inputs();
        inputs[inputs.len() - 2].shape().dims()[0]
    }

    /// Gives each device its share of the images.
    fn split(&self, images: &Images, share: usize) -> Result<Batch> {
        ensure!(images.len() == share * self.devices().len());
        let pixels = images.pixels.chunks(share * PIXELS);
        let shares = self
            .devices()
            .iter()
            .zip(pixels.zip(images.labels.chunks(share)));
        let buffers = shares.map(|(device, (pixels, labels))| {
            Ok(vec![
                Buffer::from_host(device, pixels, &[share, PIXELS])?,
                Buffer::from_host(device, labels, &[share])?,
            ])
        });
        Ok(Batch(buffers.collect::<Result<_>>()?))
    }

    /// One step. Gives the new state, and the loss on this batch as soon as it's there.
    pub fn step(&self, state: State, batch: &Batch) -> Result<(State, HostRead<f32>)> {
        // For each device its model and metrics, given, and its share of the batch, lent.
        let given = state.model.into_iter().zip(state.metrics);
        let outputs = self.step.run_per_device(given.zip(&batch.0))?;

        let (mut model, mut metrics) = (Vec::new(), Vec::new());
        let mut losses = Vec::new();
        for outputs in outputs {
            let mut outputs = outputs.into_vec();
            losses.extend(outputs.pop());
            metrics.push(outputs.split_off(MODEL));
            model.push(outputs);
        }
        // All devices have the same loss. Reading starts now and is waited for later.
        let loss = losses[0].to_host_async()?;
        Ok((State { model, metrics }, loss))
    }

    /// How the network does on a batch made for evaluation. Nothing is donated.
    pub fn evaluate(&self, state: &State, batch: &Batch) -> Result<Metrics> {
        let params = state.model.iter().map(|model| &model[..PARAMS]);
        let outputs = self.evaluate.run_per_device(params.zip(&batch.0))?;
        Metrics::read(&outputs[0])
    }

    /// What the steps summed up since the sums were zero.
    pub fn metrics(&self, state: &State) -> Result<Metrics> {
        Metrics::read(&state.metrics[0])
    }

    /// Sets the sums to zero: new buffers take the old ones' place, on each device its own.
    pub fn reset_metrics(&self, state: &mut State) -> Result<()> {
        state.metrics = self.zero_metrics()?;
        Ok(())
    }

    fn zero_metrics(&self) -> Result<PerDevice> {
        let inputs = &self.step.signature().inputs()[MODEL..][..METRICS];
        let zeros = |device| {
            let buffers = inputs.iter().map(|input| {
                let zeros = vec![0; input.shape().byte_size()];
                Ok(Buffer::from_bytes(device, &zeros, input.shape())?)
            });
            buffers.collect()
        };
        self.devices().iter().map(zeros).collect()
    }

    /// The whole model, in host memory.
    pub fn snapshot(&self, state: &State) -> Result<Snapshot> {
        self.to_snapshot(&state.model[0])
    }

    fn to_snapshot(&self, model: &[Buffer]) -> Result<Snapshot> {
        let inputs = self.step.signature().inputs();
        let tensors = model.iter().zip(inputs).map(|(buffer, input)| {
            Ok(Tensor {
                name: input.name().context("an input without a name")?.to_owned(),
                shape: buffer.shape().clone(),
                bytes: buffer.to_bytes()?,
            })
        });
        Ok(Snapshot(tensors.collect::<Result<_>>()?))
    }

    /// The state with the model of a snapshot.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<State> {
        let on_device = |device| {
            let tensors = snapshot.0.iter();
            let buffers =
                tensors.map(|tensor| Ok(Buffer::from_bytes(device, &tensor.bytes, &tensor.shape)?));
            buffers.collect()
        };
        Ok(State {
            model: self
                .devices()
                .iter()
                .map(on_device)
                .collect::<Result<_>>()?,
            metrics: self.zero_metrics()?,
        })
    }
}
