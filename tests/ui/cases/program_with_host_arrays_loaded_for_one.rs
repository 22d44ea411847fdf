// Foreseen: host arrays, which a program on many devices takes, passed to one on a single device.
// rustc: E0277, in the words of the macro.
use xla::{Buffer, Client, CompileOptions, Result, Split, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: Split<Buffer>) -> State;

fn load(client: &Client) -> Result<()> {
    step::load_with(client, &CompileOptions::new())?;
    Ok(())
}

fn main() {}
