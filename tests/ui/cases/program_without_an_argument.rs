// Reported: an exported program had lost the arguments that it didn't use.
// rustc: E0080, the file has another number of inputs.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State) -> State;

fn main() {}
