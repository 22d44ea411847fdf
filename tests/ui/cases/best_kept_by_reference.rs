// Reported: the best parameters so far were kept beside the current ones, as the same arrays, and
// the next step donated them.
// rustc: E0505, `state` is borrowed by `best` when it is moved, and E0506, when it is assigned.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = Function<(Give<State>, Ref<Buffer>), (State, Buffer)>;

fn train(step: &Step, mut state: State, gradients: &[Buffer]) -> Result<Vec<f32>> {
    let mut best = &state;
    let mut least = f32::INFINITY;
    for gradient in gradients {
        let (next, loss) = step.call((state, gradient))?;
        state = next;
        let loss = loss.to_scalar()?;
        if loss < least {
            (best, least) = (&state, loss);
        }
    }
    best.weights.to_host()
}

fn main() {}
