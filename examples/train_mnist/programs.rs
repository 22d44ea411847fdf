//! The exported programs, and the trees of buffers that go in and out.
//!
//! JAX has written each program once for every number of devices, by
//! `examples/programs/export.py`. What a step changes is donated: it is given, and comes
//! back new in the same memory. What it only reads is lent.

use anyhow::{Context, Result};
use xla::{Buffer, Client, CompileOptions, Each, Executable, Function, Give, HostArray, HostTree};
use xla::{One, ParallelFunction, Part, PerDevice, Program, Ref, Tree};

use super::data::{Images, PIXELS};

/// How many images a step learns from, on however many devices.
pub const BATCH: usize = 64;

/// A layer's weights and biases.
#[derive(Tree)]
pub struct Layer {
    pub w: Buffer,
    pub b: Buffer,
}

#[derive(Tree)]
pub struct Params {
    pub conv1: Layer,
    pub conv2: Layer,
    pub dense: Layer,
}

/// What is learnt, and what Adam keeps for it. Every device has all of it.
#[derive(Tree)]
pub struct State {
    pub params: Params,
    /// The mean of the gradients.
    pub mu: Params,
    /// The mean of their squares.
    pub nu: Params,
    pub step: Buffer,
}

/// Sums over the images that all devices have seen.
#[derive(Tree)]
pub struct Metrics {
    loss_sum: Buffer,
    correct: Buffer,
    seen: Buffer,
}

/// Images and the digits that they show. Every device has its share.
#[derive(Tree)]
pub struct Batch {
    images: Buffer,
    labels: Buffer,
}

/// A step: state and metrics are given and come back, the batch is lent. The loss is the
/// same on all devices, and one is enough.
pub type Step = ParallelFunction<
    (Give<State>, Give<Metrics>, Ref<Batch>),
    (Each<State>, Each<Metrics>, One<Buffer>),
>;
/// An evaluation: of the state it takes a part, and nothing is donated.
pub type Evaluate = ParallelFunction<(Part<Params>, Ref<Batch>), One<Metrics>>;

/// The programs, compiled.
pub struct Programs {
    init: Function<(Ref<Buffer>,), State>,
    shuffle: Function<(Ref<Buffer>, Ref<Buffer>), Buffer>,
    pub step: Step,
    evaluate: Evaluate,
}

/// How a network did on some images.
#[derive(Clone, Copy)]
pub struct Score {
    loss_sum: f32,
    correct: i32,
    /// How many images it was.
    pub seen: i32,
}

/// The text of a program for 1 to 8 devices.
macro_rules! text_for {
    ($name:literal, $devices:expr) => {{
        let texts = [
            include_str!(concat!("../programs/", $name, "_1.mlir")),
            include_str!(concat!("../programs/", $name, "_2.mlir")),
            include_str!(concat!("../programs/", $name, "_3.mlir")),
            include_str!(concat!("../programs/", $name, "_4.mlir")),
            include_str!(concat!("../programs/", $name, "_5.mlir")),
            include_str!(concat!("../programs/", $name, "_6.mlir")),
            include_str!(concat!("../programs/", $name, "_7.mlir")),
            include_str!(concat!("../programs/", $name, "_8.mlir")),
        ];
        let text = texts.get($devices - 1);
        *text.context("there are programs for 1 to 8 devices")?
    }};
}

impl Programs {
    /// Compiles all that training on so many devices takes.
    pub fn compile(client: &Client, devices: usize) -> Result<Programs> {
        let compile = |text: &str| compile(client, text);
        let step: Step = compile(text_for!("train_step", devices))?.parallel()?;
        let evaluate: Evaluate = compile(text_for!("evaluate", devices))?.parallel()?;
        Ok(Programs {
            init: compile(include_str!("../programs/init.mlir"))?.typed()?,
            shuffle: compile(include_str!("../programs/shuffle.mlir"))?.typed()?,
            step: step.with_names(&["state", "metrics", "batch"]),
            evaluate: evaluate.with_names(&["params", "batch"]),
        })
    }

    /// The step as it would be without donation, to see the difference. Donation is a word
    /// at each argument of the text.
    pub fn undonated(client: &Client, devices: usize) -> Result<Executable> {
        let mut parts = text_for!("train_step", devices).split(", tf.aliasing_output = ");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // After the word stands the number of a result: `3 : i32`.
            let (_, rest) = part.split_once(" : i32").context("a number")?;
            text += rest;
        }
        compile(client, &text)
    }

    /// The state before the first step, on every device.
    pub fn init(&self, seed: u32) -> Result<PerDevice<State>> {
        let device = &self.init.executable().devices()[0];
        let state = self.init.call((&Buffer::scalar(device, seed)?,))?;
        Ok(PerDevice::replicate_tree(self.step.devices(), &state)?)
    }

    /// The order in which an epoch takes the images; the first has the number 0.
    pub fn order(&self, seed: u32, epoch: u32) -> Result<Vec<i32>> {
        let device = &self.shuffle.executable().devices()[0];
        let (seed, epoch) = (
            Buffer::scalar(device, seed)?,
            Buffer::scalar(device, epoch)?,
        );
        Ok(self.shuffle.call((&seed, &epoch))?.to_host()?)
    }

    /// The state with values from the host, on every device.
    pub fn restore(&self, state: &HostTree<'_, State>) -> Result<PerDevice<State>> {
        Ok(self.step.place(0, state)?)
    }

    /// Sums that are zero, for the first step of an epoch.
    pub fn zero_metrics(&self) -> Result<PerDevice<Metrics>> {
        Ok(self.step.zeros(1)?)
    }

    /// Images for a step, [`BATCH`] of them: each device gets its share.
    pub fn batch(&self, images: Images) -> Result<PerDevice<Batch>> {
        let images = images.padded(rows(self.step.executable())?);
        Ok(self.step.place_split(2, &hosted(&images)?)?)
    }

    /// Images for an evaluation, at most as many as its program takes.
    pub fn evaluation_batch(&self, images: &Images) -> Result<PerDevice<Batch>> {
        let images = images.clone().padded(rows(self.evaluate.executable())?);
        Ok(self.evaluate.place_split(1, &hosted(&images)?)?)
    }

    /// How the network does on a batch made for evaluation.
    pub fn evaluate(&self, state: &PerDevice<State>, batch: &PerDevice<Batch>) -> Result<Score> {
        let params = state.part(|state| &state.params);
        self.evaluate.call((params, batch))?.read()
    }
}

fn compile(client: &Client, text: &str) -> Result<Executable> {
    Ok(client.compile(&Program::from_text(text)?, &CompileOptions::new())?)
}

/// How many images a program takes, on all devices: those that are there, and padding. The
/// labels are its last argument.
fn rows(program: &Executable) -> Result<usize> {
    let labels = program.signature().inputs().last();
    let whole = labels.and_then(|labels| labels.global_shape());
    Ok(whole.context("a program that takes images")?.dims()[0])
}

fn hosted(images: &Images) -> xla::Result<HostTree<'_, Batch>> {
    HostTree::new([
        HostArray::borrowed(&images.pixels, &[images.len(), PIXELS])?,
        HostArray::borrowed(&images.labels, &[images.len()])?,
    ])
}

impl Metrics {
    /// Waits for the sums.
    pub fn read(&self) -> Result<Score> {
        Ok(Score {
            loss_sum: self.loss_sum.to_scalar()?,
            correct: self.correct.to_scalar()?,
            seen: self.seen.to_scalar()?,
        })
    }
}

impl Score {
    /// The mean loss of an image.
    pub fn loss(&self) -> f32 {
        self.loss_sum / self.seen as f32
    }

    /// The share of images whose digit was seen.
    pub fn accuracy(&self) -> f64 {
        f64::from(self.correct) / f64::from(self.seen)
    }
}
