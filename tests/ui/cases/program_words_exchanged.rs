// Foreseen: what is said of a result, said of an argument, and the other way round.
// rustc: the words of the macro.
use xla::{Buffer, One, Same, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn argument(state: State, gradient: One<Buffer>) -> (State, Buffer);

#[xla::program("programs/replicas.mlir")]
fn result(state: State, gradient: &Buffer) -> (State, Same<Buffer>);

fn main() {}
