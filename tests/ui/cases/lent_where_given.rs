// Reported: what is donated stood in a list of numbers, and a message named "argument 992".
// rustc: E0308, and how to mend it: consider removing the borrow.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
}

type Step = Function<(Give<State>, Ref<Batch>), State>;

fn step(step: &Step, state: State, batch: &Batch) -> Result<State> {
    Ok(step.call((&state, batch))?)
}

fn main() {}
