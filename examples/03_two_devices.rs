//! Run one program on two devices that speak to each other.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 03_two_devices
//! ```
//!
//! This is the way without types, which takes any program: one list of arguments for each
//! device, one launch for all of them. Lesson 07 is what to use where the types are known.
//!
//! There are two ways of writing such a program, and both run the same way here.

use anyhow::Result;
use xla::{Buffer, Client, ClientOptions, CompileOptions, Plugin, Program};

fn main() -> Result<()> {
    // On a CPU the number of devices is ours to choose.
    let options = ClientOptions::new().cpu_device_count(2);
    let client = Plugin::cpu()?.client_with(&options)?;
    replicas(&client)?;
    partitions(&client)
}

/// Replicas: the program is written from the view of one device, and two copies of it
/// run. `all_reduce` adds up what all of them have.
fn replicas(client: &Client) -> Result<()> {
    // Each replica adds its own number, 0 or 1, to its row before the rows are summed.
    let program = Program::from_text(include_str!("programs/all_reduce_replicas_2.mlir"))?;
    let sum = client.compile(&program, &CompileOptions::new())?;
    println!("{}", sum.signature());
    assert!(sum.signature().has_collectives());

    let rows = [[1f32, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]];
    let mut arguments = Vec::new();
    for (device, row) in sum.devices().iter().zip(&rows) {
        arguments.push(Buffer::from_host(device, row, &[4])?);
    }
    // What one device gives, all must give; here all of them lend their row.
    let outputs = sum.run_per_device(&arguments)?;

    for (index, outputs) in outputs.into_iter().enumerate() {
        let [total, replica] = outputs.into_array()?;
        let total = total.to_host::<f32>()?;
        println!("replica {index} has {total:?}");
        assert_eq!(total, [12.0, 23.0, 34.0, 45.0]);
        assert_eq!(replica.to_scalar::<u32>()?, index as u32);
    }
    Ok(())
}

/// Partitions: the program is written as if there were one large device, with a note
/// on each array how it is split. Every device holds and passes its own part. This is
/// what JAX exports today.
fn partitions(client: &Client) -> Result<()> {
    let program = Program::from_text(include_str!("programs/two_devices.mlir"))?;
    let sum = client.compile(&program, &CompileOptions::new())?;
    // In the text the argument is f32[2,4]. The signature is that of one device: f32[1,4].
    println!("\n{}", sum.signature());
    assert_eq!(sum.signature().inputs()[0].shape().dims(), [1, 4]);

    let whole = [1f32, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
    let mut parts = Vec::new();
    for (device, part) in sum.devices().iter().zip(whole.chunks(4)) {
        parts.push(Buffer::from_host(device, part, &[1, 4])?);
    }
    // The parts by value: this program donates none, so they are dropped after the run.
    for outputs in sum.run_per_device(parts)? {
        let total = outputs.into_single()?;
        println!("{:?} has {:?}", total.device(), total.to_host::<f32>()?);
        assert_eq!(total.to_host::<f32>()?, [11.0, 22.0, 33.0, 44.0]);
    }
    Ok(())
}
