// Reported: a mark that donates spread to an argument that was to stay.
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
