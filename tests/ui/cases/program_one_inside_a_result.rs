// Foreseen: the first device's value of a part of a result.
// rustc: the words of the macro.
use xla::{Buffer, One, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: State, gradient: &Buffer) -> (State, (One<Buffer>,));

fn main() {}
