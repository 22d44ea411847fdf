// Foreseen: a part of a larger tree, lent to a program that donates it.
// rustc: the words of the macro, which reads the file of the program.
use xla::{Buffer, Part, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: Part<State>, gradient: &Buffer) -> (State, Buffer);

fn main() {}
