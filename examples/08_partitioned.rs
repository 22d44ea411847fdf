//! A network that no device holds whole, as JAX exports it over a mesh of two axes.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 08_partitioned
//! ```
//!
//! The four devices are a mesh of 2 x 2. The batch is split over one axis, the hidden units
//! of a network with two layers over the other. In JAX (`programs/partitioned.py`):
//!
//! ```python
//! mesh   = Mesh(devices.reshape(2, 2), ("data", "model"))
//! params = Params(w1=P(None, "model"), b1=P("model"), w2=P("model", None))
//! batch  = Batch(x=P("data", None), y=P("data", None))
//! jax.jit(step, in_shardings=(params, batch), out_shardings=(params, P()), donate_argnums=0)
//! ```
//!
//! All this is in the exported text, so there is nothing to say again: arrays of global
//! shape go in, the program's own sharding tells who gets which block, and the blocks that
//! come out are joined by the same words.

use anyhow::Result;
use serde_json::Value;
use xla::{Buffer, ClientOptions, CompileOptions, Each, Give, HostArray, HostTree, One};
use xla::{ParallelFunction, Plugin, Program, Ref, Tree};

/// The weights; on each device a block of each.
#[derive(Tree)]
struct Params {
    w1: Buffer,
    b1: Buffer,
    w2: Buffer,
}

/// Rows; on each device half of them.
#[derive(Tree)]
struct Batch {
    x: Buffer,
    y: Buffer,
}

/// The weights are given and come back in the same memory; the rows are lent.
type Step = ParallelFunction<(Give<Params>, Ref<Batch>), (Each<Params>, One<Buffer>)>;

fn main() -> Result<()> {
    // What JAX computes on one device, where nothing is split.
    let oracle: Value = serde_json::from_str(include_str!("programs/oracle/partitioned.json"))?;
    let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(4))?;
    let program = Program::from_text(include_str!("programs/partitioned_2x2.mlir"))?;
    let step: Step = client
        .compile(&program, &CompileOptions::new())?
        .parallel()?;
    let step = step.with_names(&["params", "batch"]);

    // Shapes are those of one device; behind each stands how the whole array is split.
    print!("{}", step.signature());
    let w1 = &step.signature().inputs()[0];
    assert_eq!(w1.shape().to_string(), "f32[4,4]");
    assert_eq!(
        w1.global_shape().expect("it is stated").to_string(),
        "f32[4,8]"
    );

    // The whole arrays, in host memory, and from there each block to its device.
    let params = HostTree::<Params>::new([
        array(&oracle["params"]["w1"], &[4, 8])?,
        array(&oracle["params"]["b1"], &[8])?,
        array(&oracle["params"]["w2"], &[8, 2])?,
    ])?;
    let rows = HostTree::<Batch>::new([
        array(&oracle["batch"]["x"], &[8, 4])?,
        array(&oracle["batch"]["y"], &[8, 2])?,
    ])?;
    // 0 and 1 are the parameters' numbers. "Same" speaks of replicas, of which there is one.
    let mut params = step.place(0, &params)?;
    let rows = step.place(1, &rows)?;
    for (position, own) in params.iter().enumerate() {
        println!("device {position} has {:?} of w1", own.w1.shape().dims());
    }

    for wanted in numbers(&oracle["losses"]) {
        let loss;
        (params, loss) = step.call((params, &rows))?;
        let loss = loss.to_scalar::<f32>()?;
        println!("loss {loss}");
        close(loss, wanted);
    }

    // Joined again, by the sharding of the program's result number 0.
    let trained = step.gather(0, &params)?;
    for (name, whole) in trained.named_leaves("trained") {
        println!("{name} is {}", whole.shape());
        let wanted = &oracle["trained"][name.trim_start_matches("trained.")];
        for (got, wanted) in whole.to_vec::<f32>()?.into_iter().zip(numbers(wanted)) {
            close(got, wanted);
        }
    }
    assert_eq!(trained.leaves()[0].dims(), [4, 8]);

    // An array that isn't the program's is refused with both shapes, the whole and the part.
    let turned = array(&oracle["params"]["w1"], &[8, 4])?.into();
    let refused = step.executable().place::<Buffer>(0, &turned);
    let refused = refused.expect_err("w1 has 4 rows of 8");
    println!("refused: {refused}");
    assert!(refused.message().contains("wanted f32[4,8] (f32[4,4] on"));
    Ok(())
}

fn numbers(list: &Value) -> Vec<f32> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_f64).map(|x| x as f32).collect()
}

fn array(list: &Value, dims: &[usize]) -> xla::Result<HostArray<'static>> {
    HostArray::new(&numbers(list), dims)
}

/// Four devices add in another order than one does.
fn close(got: f32, wanted: f32) {
    assert!((got - wanted).abs() <= 2e-6, "{got} instead of {wanted}");
}
