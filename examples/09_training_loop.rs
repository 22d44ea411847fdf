//! What a training loop on many devices needs, in one place.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 09_training_loop
//! ```
//!
//! - Batches are made and uploaded while the devices have a step to do.
//! - A step's gradients are summed up over micro-steps, for batches that are too large to
//!   be taken at once. The devices speak to each other once a step.
//! - Each device draws random numbers of its own, and the same on every run.
//! - Metrics stay on the devices until somebody asks.
//! - The state is saved, and goes on with another number of devices.
//!
//! The programs are JAX's (`programs/training_loop.py`), a network with dropout. The numbers
//! that must come out are those of one large step on one device.

use std::ops::Range;

use anyhow::Result;
use serde_json::Value;
use xla::{Buffer, Client, ClientOptions, CompileOptions, Device, Each, Give, HostArray, HostTree};
use xla::{ParallelFunction, Part, PerDevice, Plugin, Prefetch, Program, Ref, RngKey, Tree};

#[derive(Tree)]
struct Params {
    w1: Buffer,
    w2: Buffer,
}

#[derive(Tree)]
struct State {
    params: Params,
    momentum: Params,
    step: Buffer,
}

/// What the micro-steps of one step add up to, on each device for itself.
#[derive(Tree)]
struct Sums {
    gradients: Params,
    loss: Buffer,
}

/// What the steps add up to: the same on all devices.
#[derive(Tree)]
struct Metrics {
    loss: Buffer,
    steps: Buffer,
}

#[derive(Tree)]
struct Batch {
    x: Buffer,
    y: Buffer,
}

/// Adds a shard's gradients to the sums, in their memory. Of the state only the weights are
/// lent. There is no collective in it: the devices don't wait for each other.
type Micro = ParallelFunction<(Part<Params>, Give<Sums>, Ref<Buffer>, Ref<Batch>), Each<Sums>>;

/// Adds up the sums of all devices and takes a step. The sums come back as zeros.
type Update = ParallelFunction<
    (Give<State>, Give<Sums>, Give<Metrics>),
    (Each<State>, Each<Sums>, Each<Metrics>),
>;

/// What a device draws with its key.
type Noise = ParallelFunction<(Ref<Buffer>,), Each<Buffer>>;

/// The batch of a step, in shards of so many rows. A shard is what a device takes at once.
const SHARDS: usize = 4;
const ROWS: usize = 4;
const INPUTS: usize = 6;
const HIDDEN: usize = 16;
const STEPS: u32 = 8;

/// The programs for a number of devices, compiled, and the random key that all begins with.
struct Training {
    micro: Micro,
    update: Update,
    key: RngKey,
}

fn main() -> Result<()> {
    let oracle: Value = serde_json::from_str(include_str!("programs/oracle/training_loop.json"))?;
    let key = RngKey::new(oracle["seed"].as_u64().expect("a seed"));
    let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(4))?;
    draws(&client, key, &oracle["noise"])?;

    // Two devices: each takes two shards a step, one after the other.
    let two = Training::compile(
        &client,
        include_str!("programs/micro_2.mlir"),
        include_str!("programs/update_2.mlir"),
        key,
    )?;
    let state = PerDevice::replicate(two.devices(), &first_state()?)?;
    let (state, loss_of_half) = two.run(state, 0..STEPS / 2)?;

    // Saved: the first device's state, in host memory, each leaf with its name. That all
    // devices have the same is checked before.
    state.assert_replicas_equal()?;
    let saved = HostTree::read(&state[0])?;
    for (name, leaf) in saved.named_leaves("state") {
        println!("  saved {name}: {}", leaf.shape());
    }
    drop((state, two));

    // Restored, on four devices: each takes one shard a step. A shard's key is the same as it
    // would have been, and so are the numbers.
    let four = Training::compile(
        &client,
        include_str!("programs/micro_4.mlir"),
        include_str!("programs/update_4.mlir"),
        key,
    )?;
    let state = PerDevice::replicate(four.devices(), &saved)?;
    assert_eq!(HostTree::read(&state[3])?, saved);
    let (state, loss_of_rest) = four.run(state, STEPS / 2..STEPS)?;
    state.assert_replicas_equal()?;

    // In JAX all eight steps were taken on one device, a whole batch at a time.
    let wanted = numbers(&oracle["losses"]);
    let (first, second) = wanted.split_at(wanted.len() / 2);
    close(loss_of_half, first.iter().sum());
    close(loss_of_rest, second.iter().sum());
    let state = state.unreplicate()?;
    assert_eq!(state.step.to_scalar::<i32>()?, STEPS as i32);
    for (leaf, name) in [(&state.params.w1, "w1"), (&state.params.w2, "w2")] {
        let wanted = numbers(&oracle["trained"][name]);
        for (got, wanted) in leaf.to_host::<f32>()?.into_iter().zip(wanted) {
            close(got, wanted);
        }
    }
    Ok(())
}

impl Training {
    fn compile(client: &Client, micro: &str, update: &str, key: RngKey) -> Result<Training> {
        let compile = |text| client.compile(&Program::from_text(text)?, &CompileOptions::new());
        let micro: Micro = compile(micro)?.parallel()?;
        let update: Update = compile(update)?.parallel()?;
        assert!(!micro.signature().has_collectives());
        assert!(update.signature().has_collectives());
        Ok(Training {
            micro: micro.with_names(&["params", "sums", "key", "batch"]),
            update: update.with_names(&["state", "sums", "metrics"]),
            key,
        })
    }

    fn devices(&self) -> &[Device] {
        self.micro.devices()
    }

    /// Takes steps; gives the state after them, and the sum of their losses.
    fn run(
        &self,
        mut state: PerDevice<State>,
        steps: Range<u32>,
    ) -> Result<(PerDevice<State>, f32)> {
        let (devices, key) = (self.devices().to_vec(), self.key);
        let count = devices.len();

        // On a thread of its own. At most two steps' keys and rows are on the devices before
        // they are asked for; a third waits until one is taken.
        let made = steps.map(move |step| -> Result<Vec<_>> {
            let firsts = (0..SHARDS).step_by(count);
            firsts
                .map(|first| shards(&devices, key, step, first))
                .collect()
        });
        let ready = Prefetch::new(2, made)?;

        let mut sums = self.micro.zeros(1)?;
        let mut metrics = self.update.zeros(2)?;
        for shards in ready {
            for (key, batch) in shards? {
                let params = state.part(|state| &state.params);
                sums = self.micro.call((params, sums, &key, &batch))?;
            }
            (state, sums, metrics) = self.update.call((state, sums, metrics))?;
        }
        // Only now anything is read: on one device, for all have the same.
        metrics.assert_replicas_equal()?;
        let metrics: Metrics = metrics.unreplicate()?;
        let loss = metrics.loss.to_scalar::<f32>()?;
        let steps = metrics.steps.to_scalar::<i32>()?;
        println!(
            "{count} devices, {steps} steps of {} micro-steps: mean loss {}",
            SHARDS / count,
            loss / steps as f32
        );
        Ok((state, loss))
    }
}

/// Key and rows for each device: the shards of a step from `first` on.
///
/// A key belongs to a shard and not to a device, so that it doesn't matter who works on it.
fn shards(
    devices: &[Device],
    key: RngKey,
    step: u32,
    first: usize,
) -> Result<(PerDevice<Buffer>, PerDevice<Batch>)> {
    let keys = PerDevice::rng_keys_from(devices, key.fold_in(step), first as u32)?;
    let rows = rows_of(step, first * ROWS..(first + devices.len()) * ROWS)?;
    Ok((keys, PerDevice::shard(devices, &rows, 0)?))
}

/// A device's key is `jax.random.fold_in(jax.random.key(seed), position)`, and what is drawn
/// with it are JAX's numbers to the last bit.
fn draws(client: &Client, key: RngKey, wanted: &Value) -> Result<()> {
    let program = Program::from_text(include_str!("programs/noise_4.mlir"))?;
    let noise: Noise = client
        .compile(&program, &CompileOptions::new())?
        .parallel()?;
    let keys = PerDevice::rng_keys(noise.devices(), key)?;
    let drawn = noise.call((&keys,))?;
    for (position, drawn) in drawn.iter().enumerate() {
        let drawn = drawn.to_host::<f32>()?;
        println!("device {position} draws {drawn:?}");
        assert_eq!(drawn, numbers(&wanted[position]));
    }
    Ok(())
}

/// Numbers that look like none in particular, as in `programs/partitioned.py`.
fn spread_out(count: usize, scale: f32) -> Vec<f32> {
    let number = |i| (i * 37 % 64) as f32 / 32. - 1.;
    (0..count).map(|i| number(i) * scale).collect()
}

fn first_state() -> Result<HostTree<'static, State>> {
    let w1 = HostArray::new(&spread_out(INPUTS * HIDDEN, 0.5), &[INPUTS, HIDDEN])?;
    let w2 = HostArray::new(&spread_out(HIDDEN, 0.25), &[HIDDEN])?;
    let zeros = [&w1, &w2].map(|weights| HostArray::zeros(weights.shape().clone()));
    let [zeros1, zeros2] = zeros;
    Ok(HostTree::new([
        w1,
        w2,
        zeros1,
        zeros2,
        HostArray::scalar(0)?,
    ])?)
}

/// Rows of a step's batch, as in `programs/training_loop.py`.
fn rows_of(step: u32, rows: Range<usize>) -> Result<HostTree<'static, Batch>> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in rows.clone() {
        let at = |column| ((step as usize * 31 + row * 7 + column * 5) % 16) as f32 / 8. - 1.;
        x.extend((0..INPUTS).map(at));
        y.push(at(0) * at(1) + at(2) / 2.);
    }
    Ok(HostTree::new([
        HostArray::new(&x, &[rows.len(), INPUTS])?,
        HostArray::new(&y, &[rows.len()])?,
    ])?)
}

fn numbers(list: &Value) -> Vec<f32> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_f64).map(|x| x as f32).collect()
}

/// Additions in another order: to 1e-6 of numbers of the size of 1.
fn close(got: f32, wanted: f32) {
    let deviation = (got - wanted).abs() / wanted.abs().max(1.0);
    assert!(deviation <= 1e-6, "{got} instead of {wanted}");
}
