// Measured: `jax.jit` leaves unused arguments out of the program.
// rustc: E0080, the file has another number of inputs.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State) -> State;

fn main() {}
