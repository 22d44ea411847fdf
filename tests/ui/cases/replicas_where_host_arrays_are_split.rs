// Foreseen: a batch that is on its devices already is passed to a program that splits host arrays.
// rustc: E0308, `Split` takes host arrays.
use xla::{Buffer, Each, Give, ParallelFunction, PerDevice, Result, Split, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
}

type Step = ParallelFunction<(Give<State>, Split<Batch>), Each<State>>;

fn step(
    step: &Step,
    state: PerDevice<State>,
    batch: &PerDevice<Batch>,
) -> Result<PerDevice<State>> {
    Ok(step.call((state, batch))?)
}

fn main() {}
