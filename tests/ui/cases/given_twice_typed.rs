// Reported: metrics were reset to arrays that the model also kept as their initial state, and
// the next step donated one array twice.
// rustc: E0382, `state` was moved to its first place.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn blend(blend: &Function<(Give<State>, Give<State>), State>, state: State) -> Result<State> {
    Ok(blend.call((state, state))?)
}

fn main() {}
