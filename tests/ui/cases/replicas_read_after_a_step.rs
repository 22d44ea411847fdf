// Reported: replicated arrays were read after a `pmap` step that donated them ("Array has been deleted").
// rustc: E0382, `state` was moved into the call.
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

fn step(step: &Step, state: PerDevice<State>, batch: &PerDevice<Batch>) -> Result<Vec<f32>> {
    let _next = step.call((state, batch))?;
    state[0].weights.to_host()
}

fn main() {}
