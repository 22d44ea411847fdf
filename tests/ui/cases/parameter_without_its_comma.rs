// Foreseen: a program with one parameter, and no tuple around it.
// rustc: E0277, the parameters are a tuple.
use xla::{Buffer, Executable, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<Function<Give<State>, State>> {
    step.typed()
}

fn main() {}
