// Measured: `jax.jit` leaves out a leaf of the state that the function only writes.
// rustc: E0080, the file has another number of inputs of the state.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    seen: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step_without_seen.mlir")]
fn step(state: State) -> State;

fn main() {}
