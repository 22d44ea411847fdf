//! Train with everything donated, and keep what has to be kept.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 05_train_and_keep_the_best
//! ```
//!
//! A training loop keeps arrays across its steps: the metrics as they were at the
//! beginning, the best parameters so far, the model that a validation looks at, and, when
//! a step is interrupted, the state from before. With donation in every step each of
//! these is an accident waiting to happen where arrays are shared behind one's back. Here
//! a value is in one place: what is kept is lent or copied, and what is given is gone.

use anyhow::{ensure, Context, Result};
use xla::{Buffer, Client, CompileOptions, Device, Function, Give, HostRead, Program, Ref, Tree};

/// Fits `y = w * x + b` by gradient descent with momentum, to four points at a time. The
/// model and the metrics, six inputs, lie in the memory of the first six outputs.
const STEP: &str = r#"
module @step { func.func @main(%w: tensor<f32> {tf.aliasing_output = 0 : i32}, %b: tensor<f32> {tf.aliasing_output = 1 : i32},
                %mw: tensor<f32> {tf.aliasing_output = 2 : i32}, %mb: tensor<f32> {tf.aliasing_output = 3 : i32},
                %losses: tensor<f32> {tf.aliasing_output = 4 : i32}, %steps: tensor<i32> {tf.aliasing_output = 5 : i32},
                %x: tensor<4xf32>, %y: tensor<4xf32>, %rate: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>) {
  %ws = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %wx = stablehlo.multiply %ws, %x : tensor<4xf32>
  %guess = stablehlo.add %wx, %bs : tensor<4xf32>
  %error = stablehlo.subtract %guess, %y : tensor<4xf32>
  %gw = stablehlo.dot %error, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %gb = stablehlo.reduce(%error init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %mw_half = stablehlo.multiply %mw, %half : tensor<f32>
  %mb_half = stablehlo.multiply %mb, %half : tensor<f32>
  %mw1 = stablehlo.add %mw_half, %gw : tensor<f32>
  %mb1 = stablehlo.add %mb_half, %gb : tensor<f32>
  %dw = stablehlo.multiply %rate, %mw1 : tensor<f32>
  %db = stablehlo.multiply %rate, %mb1 : tensor<f32>
  %w1 = stablehlo.subtract %w, %dw : tensor<f32>
  %b1 = stablehlo.subtract %b, %db : tensor<f32>
  %loss = stablehlo.dot %error, %error : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %losses1 = stablehlo.add %losses, %loss : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %steps1 = stablehlo.add %steps, %one : tensor<i32>
  return %w1, %b1, %mw1, %mb1, %losses1, %steps1
    : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>
} }"#;

/// The squared error at four points. It donates nothing.
const VALIDATE: &str = r#"
module @validate { func.func @main(%w: tensor<f32>, %b: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
  %ws = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %wx = stablehlo.multiply %ws, %x : tensor<4xf32>
  %guess = stablehlo.add %wx, %bs : tensor<4xf32>
  %error = stablehlo.subtract %guess, %y : tensor<4xf32>
  %loss = stablehlo.dot %error, %error : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
} }"#;

/// A struct of buffers is one argument; its fields are the program's, in their order.
#[derive(Tree)]
struct Line {
    w: Buffer,
    b: Buffer,
}

#[derive(Tree)]
struct Model {
    line: Line,
    momentum: Line,
}

#[derive(Tree)]
struct Metrics {
    losses: Buffer,
    steps: Buffer,
}

#[derive(Tree)]
struct Batch {
    x: Buffer,
    y: Buffer,
}

/// `Give` is by value, `Ref` by reference. A type that says otherwise than the program
/// donates is refused when the program is given its types.
type Step = Function<(Give<Model>, Give<Metrics>, Ref<Batch>, Ref<Buffer>), (Model, Metrics)>;
type Validate = Function<(Ref<Line>, Ref<Batch>), Buffer>;

fn main() -> Result<()> {
    let client = Client::cpu()?;
    let device = client.device(0)?;
    let compile = |text| client.compile(&Program::from_text(text)?, &CompileOptions::new());
    let step: Step = compile(STEP)?.typed()?;
    let step = step.with_names(&["model", "metrics", "batch", "rate"]);
    let validate: Validate = compile(VALIDATE)?.typed()?;

    // y = 2 * x - 1
    let batches = [
        batch(&device, &[-1.0, -0.5, 0.25, 1.0])?,
        batch(&device, &[-0.75, 0.0, 0.5, 0.75])?,
        batch(&device, &[-0.25, 0.0, 0.75, 1.0])?,
    ];
    let unseen = batch(&device, &[-2.0, -1.5, 1.5, 2.0])?;

    let zero = || Buffer::scalar(&device, 0f32);
    let mut model = Model {
        line: Line {
            w: zero()?,
            b: zero()?,
        },
        momentum: Line {
            w: zero()?,
            b: zero()?,
        },
    };
    // Kept: every epoch begins with these.
    let initial = Metrics {
        losses: zero()?,
        steps: Buffer::scalar(&device, 0i32)?,
    };
    let mut best: Option<Best> = None;

    // The last rate is far too large: the model gets worse, and the best stays what it was.
    for rate in [0.125f32, 0.125, 1.0] {
        let rate = Buffer::scalar(&device, rate)?;
        // `let mut metrics = initial;` would not compile: "value moved here, in previous
        // iteration of loop". A copy has memory of its own, and a name that says so.
        let mut metrics = initial.copy_on_device()?;
        for batch in batches.iter().cycle().take(9) {
            (model, metrics) = step.call((model, metrics, batch, &rate))?;
        }
        println!(
            "{} steps, {} in all",
            metrics.steps.to_scalar::<i32>()?,
            metrics.losses.to_scalar::<f32>()?
        );
        assert_eq!(metrics.steps.to_scalar::<i32>()?, 9);

        // A validation borrows the model that the next epoch gives.
        let loss = validate.call((&model.line, &unseen))?.to_scalar::<f32>()?;
        println!("  on unseen points: {loss}");
        if !best.as_ref().is_some_and(|best| best.loss < loss) {
            best = Some(Best::of(loss, &model.line)?);
        }
    }

    // An interruption: a call that is refused gives back what it was given, as it was.
    let short = Batch {
        x: Buffer::from_host(&device, &[1f32, 2.0], &[2])?,
        y: Buffer::from_host(&device, &[1f32, 3.0], &[2])?,
    };
    let before = validate.call((&model.line, &unseen))?.to_scalar::<f32>()?;
    let metrics = initial.copy_on_device()?;
    let rate = Buffer::scalar(&device, 0.125f32)?;
    let Err(error) = step.call((model, metrics, &short, &rate)) else {
        panic!("two points are not four");
    };
    println!("refused: {error}");
    let (model, metrics, _, _) = error.into_given().context("refused before the launch")?;
    let after = validate.call((&model.line, &unseen))?.to_scalar::<f32>()?;
    assert_eq!(before, after);
    let (_model, metrics) = step.call((model, metrics, &batches[0], &rate))?;
    assert_eq!(metrics.steps.to_scalar::<i32>()?, 1);

    // The best line was on its way to the host while the training went on in its memory.
    let best = best.context("three epochs")?;
    let (w, b) = (best.w.wait()?[0], best.b.wait()?[0]);
    println!("the best: y = {w} * x + {b}");
    ensure!((w - 2.0).abs() < 0.1 && (b + 1.0).abs() < 0.1);
    // And the initial metrics are what they were.
    assert_eq!(initial.losses.to_scalar::<f32>()?, 0.0);
    assert_eq!(initial.steps.to_scalar::<i32>()?, 0);
    Ok(())
}

/// Four points of the line that is to be found.
fn batch(device: &Device, x: &[f32; 4]) -> Result<Batch> {
    Ok(Batch {
        x: Buffer::from_host(device, x, &[4])?,
        y: Buffer::from_host(device, &x.map(|x| 2.0 * x - 1.0), &[4])?,
    })
}

/// Parameters on their way to the host. They are those from when the reads were started,
/// whatever becomes of the buffers.
struct Best {
    loss: f32,
    w: HostRead<f32>,
    b: HostRead<f32>,
}

impl Best {
    fn of(loss: f32, line: &Line) -> xla::Result<Best> {
        Ok(Best {
            loss,
            w: line.w.to_host_async()?,
            b: line.b.to_host_async()?,
        })
    }
}
