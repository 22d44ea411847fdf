// Foreseen: the state taken for a metric.
// rustc: E0080, the file has another number of outputs.
use xla::{Buffer, One, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: State, gradient: &Buffer) -> (State, One<State>);

fn main() {}
