// Reported: an array was donated and passed besides ("attempt to donate the same buffer twice").
// rustc: E0382, `state` was moved before it is borrowed.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>, Ref<State>), State>, state: State) -> Result<State> {
    Ok(step.call((state, &state))?)
}

fn main() {}
