// Reported: a model's shallow copy shared every array, and a step on one donated the other's.
// rustc: E0599, there is no `clone`.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct Model {
    weights: Buffer,
}

fn keep(step: &Function<(Give<Model>,), Model>, model: Model) -> Result<(Model, Model)> {
    let kept = model.clone();
    Ok((kept, step.call((model,))?))
}

fn main() {}
