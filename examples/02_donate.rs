//! Give a buffer to a program or lend it: donation is a move.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 02_donate
//! ```
//!
//! A training step that makes new weights from old ones doesn't need both at once.
//! A program says so by marking an input as donated (in JAX: `donate_argnums`): the
//! output then lies in the input's memory. What is donated can't be used again, so
//! here it is passed by value, and the compiler sees to it.

use anyhow::Result;
use xla::{Buffer, Client, CompileOptions, Donation, Program};

fn main() -> Result<()> {
    let client = Client::cpu()?;
    let device = client.device(0)?;
    // w - 0.125 * g, with `w` donated.
    let program = Program::from_text(include_str!("programs/sgd_step.mlir"))?;
    let step = client.compile(&program, &CompileOptions::new())?;

    // The compiled program says what it will do with its inputs.
    let signature = step.signature();
    println!("{signature}");
    let [w, g] = signature.inputs() else {
        panic!("two inputs");
    };
    assert!(matches!(w.donation(), Donation::Into { output: 0, .. }));
    assert_eq!(g.donation(), Donation::None);
    assert_eq!(signature.donated_bytes(), 16); // four floats

    let w = Buffer::from_host(&device, &[1f32, 2.0, 3.0, 4.0], &[4])?;
    let g = Buffer::from_host(&device, &[8f32, -20.0, 0.5, 0.0], &[4])?;

    // Lent, `w` stays as it is although the program would donate it: XLA copies.
    let peek = step.run((&w, &g))?.into_single()?;
    assert_eq!(peek.to_host::<f32>()?, [0.0, 4.5, 2.9375, 4.0]);
    assert_eq!(w.to_host::<f32>()?, [1.0, 2.0, 3.0, 4.0]);

    // Given, `w` is gone and the result has its memory. From here on, a line that
    // uses the old `w` would not compile: "borrow of moved value".
    let mut w = step.run((w, &g))?.into_single()?;
    // A loop of steps takes no memory but that of one `w`.
    for _ in 0..3 {
        w = step.run((w, &g))?.into_single()?;
    }
    // Four steps in all: 1 - 4 * 1, 2 + 4 * 2.5, 3 - 4 * 0.0625, 4.
    println!("after four steps: {:?}", w.to_host::<f32>()?);
    assert_eq!(w.to_host::<f32>()?, [-3.0, 12.0, 2.75, 4.0]);

    // A refused call gives back what it was given.
    let integers = Buffer::from_host(&device, &[1i32, 2, 3, 4], &[4])?;
    let error = step.run((w, &integers)).expect_err("integers for floats");
    println!("refused: {error}");
    let [w] = error.into_given().try_into().expect("one buffer was given");
    assert_eq!(w.buffer.to_host::<f32>()?, [-3.0, 12.0, 2.75, 4.0]);
    Ok(())
}
