// Reported: the donation of an argument passed by name was silently ignored.
// rustc: E0277, each parameter of a `Function` says `Give` or `Ref`.
use xla::{Buffer, Executable, Function, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<Function<(State,), State>> {
    step.typed()
}

fn main() {}
