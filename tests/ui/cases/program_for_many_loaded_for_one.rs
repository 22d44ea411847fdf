// Foreseen: a program of two replicas, loaded as one of a single device.
// rustc: E0277, in the words of the macro, which reads the file of the program.
use xla::{Buffer, Client, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: State, gradient: &Buffer) -> (State, Buffer);

fn train(client: &Client, state: State, gradient: &Buffer) -> Result<()> {
    let step = step::load(client)?;
    let _ = (step, state, gradient);
    Ok(())
}

fn main() {}
