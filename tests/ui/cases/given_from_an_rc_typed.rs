// Foreseen: a model of two owners is given by one of them.
// rustc: E0308, an `Rc` of the state is not the state.
use std::rc::Rc;

use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>,), State>, state: Rc<State>) -> Result<State> {
    Ok(step.call((state,))?)
}

fn main() {}
