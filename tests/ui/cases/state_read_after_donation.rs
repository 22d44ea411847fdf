// Reported: the old state was read after a step ("buffer has been deleted or donated").
// rustc: E0382, `state` was moved into the call.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = Function<(Give<State>, Ref<Buffer>), State>;

fn train(step: &Step, state: State, gradient: &Buffer) -> Result<State> {
    let next = step.call((state, gradient))?;
    println!("{:?}", state.weights.to_host::<f32>()?);
    Ok(next)
}

fn main() {}
