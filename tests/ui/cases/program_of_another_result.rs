// Foreseen: a step of which the results were thought to hold a loss.
// rustc: E0080, the file has another number of outputs.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: &Buffer) -> (State, Buffer);

fn main() {}
