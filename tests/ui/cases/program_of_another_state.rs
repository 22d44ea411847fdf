// Reported: an argument in a list of a thousand was of another shape; the message had its number.
// rustc: E0080, the state of the file has a part that the struct lacks.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: &Buffer) -> State;

fn main() {}
