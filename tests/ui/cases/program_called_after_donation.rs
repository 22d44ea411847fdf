// Reported: the next call met an array of the last one ("buffer has been deleted or donated").
// rustc: E0382, a typed program from a file takes by value what the file donates.
use xla::{Buffer, Client, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: &Buffer) -> State;

fn train(client: &Client, state: State, gradient: &Buffer) -> Result<State> {
    let step = step::load(client)?;
    let once = step.call((state, gradient))?;
    let twice = step.call((state, gradient))?;
    drop(once);
    Ok(twice)
}

fn main() {}
