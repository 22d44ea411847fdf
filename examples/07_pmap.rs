//! One program on every device: what `jax.pmap` does, in its smallest form.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 07_pmap
//! ```
//!
//! In JAX the same reads
//!
//! ```python
//! step  = jax.pmap(step, axis_name="i", in_axes=(0, 0), donate_argnums=0)
//! w     = jax.device_put_replicated(w, jax.devices())  # [4] more dimensions than it has
//! batch = batch.reshape(4, -1, ...)                    # split by hand
//! w, loss = step(w, batch)                             # the old `w` must not be touched
//! print(loss[0])
//! ```
//!
//! Here no leading axis counts the devices, the batch is split by whoever runs the program,
//! and a `w` that is touched after it was donated does not compile.

use anyhow::Result;
use xla::{Buffer, ClientOptions, CompileOptions, Each, Give, HostArray, One, ParallelFunction};
use xla::{PerDevice, Plugin, Program, Split};

/// A step towards the mean of the numbers that all devices have, from the view of one: its
/// share of them is two, and `all_reduce` sums over all devices (no groups: all are one).
///
/// `tf.aliasing_output` is the word for donation: the new `w` lies in the old one's memory.
const STEP: &str = r#"
module @step { func.func @main(%w: tensor<f32> {tf.aliasing_output = 0 : i32}, %x: tensor<2xf32>)
    -> (tensor<f32>, tensor<f32>) {
  %ws = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %error = stablehlo.subtract %ws, %x : tensor<2xf32>
  %square = stablehlo.multiply %error, %error : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %own_gradient = stablehlo.reduce(%error init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %own_loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %gradient, %loss = "stablehlo.all_reduce"(%own_gradient, %own_loss) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %rate = stablehlo.constant dense<0.0625> : tensor<f32>
  %delta = stablehlo.multiply %rate, %gradient : tensor<f32>
  %new = stablehlo.subtract %w, %delta : tensor<f32>
  return %new, %loss : tensor<f32>, tensor<f32>
} }"#;

/// How each argument is passed, and what comes back: `w` is given and comes back on each
/// device; the batch is a host array, of which each device gets its share; the loss is the
/// same everywhere, and one is enough.
type Step = ParallelFunction<(Give<Buffer>, Split<Buffer>), (Each<Buffer>, One<Buffer>)>;

fn main() -> Result<()> {
    // On a CPU the number of devices is ours to choose.
    let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(4))?;
    // The text doesn't say on how many it runs: on all of them, whatever their number.
    let options = CompileOptions::new().all_devices();
    let program = Program::from_text(STEP)?;
    let step: Step = client.compile(&program, &options)?.parallel()?;
    let step = step.with_names(&["w", "batch"]); // for messages

    // The state goes to every device once, and stays there.
    let zero = HostArray::scalar(0f32)?.into();
    let mut w: PerDevice<Buffer> = PerDevice::replicate(step.devices(), &zero)?;
    // The batch is one array, however many devices there are.
    let batch = HostArray::new(&[1f32, 2., 3., 4., 5., 6., 7., 8.], &[8])?.into();

    let mut losses = Vec::new();
    for _ in 0..4 {
        let loss;
        (w, loss) = step.call((w, &batch))?; // one launch on four devices
        losses.push(loss.to_scalar::<f32>()?);
    }
    // The mean is 4.5; each step halves what is missing.
    println!("losses {losses:?}, w = {:?}", w[0].to_scalar::<f32>()?);
    assert_eq!(losses, [204.0, 82.5, 52.125, 44.53125]);

    // Every device has summed up the same gradient, and so has the same weight: bit by bit.
    w.assert_replicas_equal()?;
    assert_eq!(w[3].to_scalar::<f32>()?, 4.21875);

    // A device that has drifted would be named.
    let drifted = PerDevice::from_fn(step.devices(), |position, device| {
        Buffer::scalar(device, if position == 2 { 0.5f32 } else { 0.25 })
    })?;
    let drift = drifted.assert_replicas_equal().expect_err("one differs");
    println!("drifted: {drift}");
    assert!(drift
        .message()
        .contains("0.25 on device 0, but 0.5 on device 2"));

    // A batch that can't be split is refused before any device runs. The state comes back.
    let odd = HostArray::new(&[1f32; 7], &[7])?.into();
    let Err(refused) = step.call((w, &odd)) else {
        panic!("seven numbers can't be split over four devices");
    };
    println!("refused: {refused}");
    assert!(refused.error().message().contains("a remainder of 3"));
    let (w, ()) = refused.into_given().expect("no device has run");
    assert_eq!(w.unreplicate()?.to_scalar::<f32>()?, 4.21875);
    Ok(())
}
