// Foreseen: a wrong path.
// rustc: the macro's own words.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/stride.mlir")]
fn step(state: State, gradient: &Buffer) -> State;

fn main() {}
