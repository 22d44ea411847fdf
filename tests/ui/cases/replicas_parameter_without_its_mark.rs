// Reported: the donation of an argument passed by name was silently ignored.
// rustc: E0277, each parameter says how it is passed.
use xla::{Buffer, Each, Executable, ParallelFunction, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<ParallelFunction<(State,), Each<State>>> {
    step.parallel()
}

fn main() {}
