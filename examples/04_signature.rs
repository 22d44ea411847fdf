//! Ask a compiled program what it takes, gives and donates.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 04_signature
//! ```
//!
//! The program is one training step of the example `train_mnist`: 24 arguments, which
//! nobody wants to count. It was exported from JAX, which has kept the arguments' names,
//! and messages use them too. All of it is read from the program as compiled.

use anyhow::{Context, Result};
use xla::{Client, CompileOptions, Donation, Program, Signature};

fn main() -> Result<()> {
    let client = Client::cpu()?;
    let compile = |text: &str| -> Result<_> {
        Ok(client.compile(&Program::from_text(text)?, &CompileOptions::new())?)
    };
    let step = compile(include_str!("programs/train_step_1.mlir"))?;
    let undonated = compile(include_str!("programs/train_step_1_undonated.mlir"))?;
    let signature = step.signature();
    println!("{signature}");

    // Six weights and biases, their two moments each, the number of the step, three
    // sums, and the batch; all but the batch comes back, and the loss.
    assert_eq!(signature.inputs().len(), 3 * 6 + 1 + 3 + 2);
    assert_eq!(signature.outputs().len(), 3 * 6 + 1 + 3 + 1);
    assert_eq!(
        shape_of(signature, "state.params.conv1.w")?,
        "f32[3,3,1,16]"
    );
    assert_eq!(shape_of(signature, "images")?, "u8[64,784]");

    // What is donated, and into which output.
    for (index, input) in signature.inputs().iter().enumerate() {
        match input.donation() {
            Donation::Into { output, .. } => assert_eq!(output, index),
            _ => assert!(matches!(input.name(), Some("images" | "labels"))),
        }
    }
    // 20,490 weights and biases three times over and four more numbers, of four bytes.
    println!("{} bytes are donated in a step", signature.donated_bytes());
    assert_eq!(signature.donated_bytes(), (3 * 20_490 + 4) * 4);

    // So much less does a run take for its outputs than without donation.
    assert_eq!(step.memory_stats()?.alias_bytes, 245_896);
    assert_eq!(undonated.memory_stats()?.alias_bytes, 0);
    assert_eq!(undonated.signature().donated_bytes(), 0);
    Ok(())
}

/// The shape of the input with this name.
fn shape_of(signature: &Signature, name: &str) -> Result<String> {
    let mut inputs = signature.inputs().iter();
    let input = inputs.find(|input| input.name() == Some(name));
    Ok(input
        .with_context(|| format!("no input {name}"))?
        .shape()
        .to_string())
}
