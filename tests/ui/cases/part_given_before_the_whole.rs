// Reported: a state held arrays of the parameters, and both were donated.
// rustc: E0382, `model` has lost a part when it is given.
use xla::{Buffer, Executable, Function, Give, Result, Tree};

#[derive(Tree)]
struct Model {
    weights: Buffer,
    bias: Buffer,
}

fn step(
    decay: &Executable,
    step: &Function<(Give<Model>,), Model>,
    model: Model,
) -> Result<(Buffer, Model)> {
    let decayed = decay.run(model.weights)?.into_single()?;
    Ok((decayed, step.call((model,))?))
}

fn main() {}
