// Reported: a program that donated its first argument was called by code that didn't know.
// rustc: the words of the macro, which reads the file of the program.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: &State, gradient: &Buffer) -> State;

fn main() {}
