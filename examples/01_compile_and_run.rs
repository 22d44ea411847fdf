//! Load a plugin, compile a program, run it, read the result.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 01_compile_and_run
//! ```
//!
//! XLA comes as a plugin, a shared library that is loaded while the program runs.
//! The feature `fetch-cpu` fetches one for the CPU; `XLA_PJRT_CPU_PLUGIN=/path/to/it`
//! takes another. Programs are StableHLO, which JAX and others write; this one is
//! `jax.jit(lambda x, y: x + y)` for arrays of four floats.

use anyhow::Result;
use xla::{Buffer, CompileOptions, Plugin, Program};

fn main() -> Result<()> {
    let plugin = Plugin::cpu()?;
    let (major, minor) = plugin.api_version();
    println!("a plugin with PJRT API {major}.{minor}");

    // A client is a plugin at work, with all devices that it found.
    let client = plugin.client()?;
    let device = client.device(0)?;
    println!("{} devices, the first is {device:?}", client.device_count());

    // Compiling takes a while, running does not: compile once, run often.
    let program = Program::from_text(include_str!("programs/add.mlir"))?;
    let add = client.compile(&program, &CompileOptions::new())?;
    println!("{}", add.signature());

    // A buffer is an array in a device's memory: here of one dimension of size 4.
    let x = Buffer::from_host(&device, &[1f32, 2.0, 3.0, 4.0], &[4])?;
    let y = Buffer::from_host(&device, &[10f32, 20.0, 30.0, 40.0], &[4])?;

    // Passed by reference, both are lent to the run and can be used again.
    let sum = add.run((&x, &y))?.into_single()?;
    let twice = add.run((&sum, &sum))?.into_single()?;

    // A run goes on while the host does other things; reading waits for it.
    println!("x + y = {:?}", sum.to_host::<f32>()?);
    assert_eq!(x.to_host::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(sum.to_host::<f32>()?, [11.0, 22.0, 33.0, 44.0]);
    assert_eq!(twice.to_host::<f32>()?, [22.0, 44.0, 66.0, 88.0]);

    // Shapes and element types are checked before anything runs.
    let short = Buffer::from_host(&device, &[1f32, 2.0], &[2])?;
    let refusal = add.run((&x, &short)).expect_err("two floats for four");
    println!("refused: {refusal}");
    assert_eq!(refusal.code(), xla::Code::InvalidArgument);
    Ok(())
}
