// Foreseen: a part of the state is evaluated after the step that the state was given to.
// rustc: E0505, `state` is borrowed by the part.
use xla::{Buffer, Each, Give, ParallelFunction, Part, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = ParallelFunction<(Give<State>,), Each<State>>;
type Double = ParallelFunction<(Part<Buffer>,), Each<Buffer>>;

fn step(step: &Step, double: &Double, state: PerDevice<State>) -> Result<PerDevice<Buffer>> {
    let weights = state.part(|state| &state.weights);
    let _next = step.call((state,))?;
    Ok(double.call((weights,))?)
}

fn main() {}
