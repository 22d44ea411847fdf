// Foreseen: the types of a call on many devices, where those of one device stand.
// rustc: the words of the macro.
use xla::{Buffer, PerDevice, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: PerDevice<State>, gradient: &PerDevice<Buffer>) -> (PerDevice<State>, Buffer);

fn main() {}
