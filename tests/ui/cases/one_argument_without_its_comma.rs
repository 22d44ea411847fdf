// Foreseen: the parentheses of a tuple of one, the likeliest slip of the pen.
// rustc: E0308, and how to mend it: a trailing comma.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>,), State>, state: State) -> Result<State> {
    Ok(step.call(state)?)
}

fn main() {}
