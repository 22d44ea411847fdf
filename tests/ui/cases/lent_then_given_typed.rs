// Reported: as when it is given first.
// rustc: E0505, `state` is borrowed when it is moved.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Ref<State>, Give<State>), State>, state: State) -> Result<State> {
    Ok(step.call((&state, state))?)
}

fn main() {}
