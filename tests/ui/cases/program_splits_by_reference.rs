// Foreseen: a call passes a reference to the host arrays, so the declaration gets one too.
// rustc: the words of the macro.
use xla::{Buffer, Split, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: State, gradient: &Split<Buffer>) -> (State, Buffer);

fn main() {}
