// Reported: the best parameters were references to arrays that the next step donated.
// rustc: E0507, a replica can't be moved out of the state.
use xla::{Buffer, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn keep(state: &PerDevice<State>) -> Result<State> {
    Ok(state[0])
}

fn main() {}
