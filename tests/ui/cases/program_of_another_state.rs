// Reported: a message named "flattened argument 992" and no part of the state.
// rustc: E0080, the state of the file has a part that the struct lacks.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: &Buffer) -> State;

fn main() {}
