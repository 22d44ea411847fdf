// Reported: the donation of an argument was silently ignored.
// rustc: the words of the macro, which reads the file of the program.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: Buffer) -> State;

fn main() {}
