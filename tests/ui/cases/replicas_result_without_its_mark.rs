// Foreseen: a step on many devices is typed as if it gave one state.
// rustc: E0277, each result says whose it is.
use xla::{Buffer, Executable, Give, ParallelFunction, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<ParallelFunction<(Give<State>,), State>> {
    step.parallel()
}

fn main() {}
