// Reported: the mark that donates spread to arrays that were to stay.
// rustc: E0308, and how to mend it: consider borrowing here.
use xla::{Buffer, Each, Give, ParallelFunction, PerDevice, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
}

type Step = ParallelFunction<(Give<State>, Ref<Batch>), Each<State>>;

fn step(step: &Step, state: PerDevice<State>, batch: PerDevice<Batch>) -> Result<PerDevice<State>> {
    Ok(step.call((state, batch))?)
}

fn main() {}
