// Reported: the mark that donates spread to arrays that were to stay.
// rustc: E0308, and how to mend it: consider borrowing here.
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

fn step(step: &Step, state: State, batch: Batch) -> Result<State> {
    Ok(step.call((state, batch))?)
}

fn main() {}
