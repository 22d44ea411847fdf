// Foreseen: a name for a type that the program doesn't have.
// rustc: the words of the macro.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir", alias = Step)]
fn step(state: State, gradient: &Buffer) -> (State, Buffer);

fn main() {}
