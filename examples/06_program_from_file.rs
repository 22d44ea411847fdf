//! A program's file as a Rust function: read when this is built, checked against the Rust
//! types by the compiler, embedded, and compiled for a device when it is loaded.
//!
//! Try what the compiler says when `weights` is taken by reference, or `gradient` by value,
//! or when there is a third argument.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 06_program_from_file
//! ```

use anyhow::Result;
use xla::{program, Buffer, Client};

/// `weights - 0.125 * gradient`, exported from JAX; the weights are donated.
#[program("examples/programs/sgd_step.mlir")]
fn sgd_step(weights: Buffer, gradient: &Buffer) -> Buffer;

fn main() -> Result<()> {
    let client = Client::cpu()?;
    let device = client.device(0)?;
    let step = sgd_step::load(&client)?;
    print!("{}", step.signature());

    let mut weights = Buffer::from_host(&device, &[1f32, 2., 3., 4.], &[4])?;
    let gradient = Buffer::from_host(&device, &[8f32, 8., 8., 8.], &[4])?;
    for _ in 0..3 {
        weights = step.call((weights, &gradient))?;
    }
    println!("{:?}", weights.to_host::<f32>()?);
    assert_eq!(weights.to_host::<f32>()?, [-2., -1., 0., 1.]);

    // Element types and dimensions are compared at each call; a refused call gives back what
    // was given, with a place for each argument: `()` for what was lent.
    let short = Buffer::from_host(&device, &[1f32, 2.], &[2])?;
    let refused = step.call((short, &gradient)).unwrap_err();
    println!("{}", refused.error().message());
    assert!(refused.error().message().contains("`weights` (argument 0)"));
    let (short, ()) = refused.into_given().expect("it was refused");
    assert_eq!(short.to_host::<f32>()?, [1., 2.]);
    Ok(())
}
