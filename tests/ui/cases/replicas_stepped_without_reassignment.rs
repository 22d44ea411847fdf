// Reported: the second step of a loop was given what the first had donated.
// rustc: E0382, `state` was moved in the round before.
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

fn train(step: &Step, state: PerDevice<State>, batch: &PerDevice<Batch>) -> Result<()> {
    for _ in 0..3 {
        step.call((state, batch))?;
    }
    Ok(())
}

fn main() {}
