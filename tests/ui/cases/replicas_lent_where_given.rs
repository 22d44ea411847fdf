// Reported: what is donated stood in a list of numbers, and a message named "argument 992".
// rustc: E0308, and how to mend it: consider removing the borrow.
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

fn step(
    step: &Step,
    state: PerDevice<State>,
    batch: &PerDevice<Batch>,
) -> Result<PerDevice<State>> {
    Ok(step.call((&state, batch))?)
}

fn main() {}
