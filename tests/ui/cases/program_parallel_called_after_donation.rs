// Reported: the next call met an array of the last one ("buffer has been deleted or donated").
// rustc: E0382, the state of all devices is taken by value.
use xla::{Buffer, Client, One, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir")]
fn step(state: State, gradient: &Buffer) -> (State, One<Buffer>);

fn train(
    client: &Client,
    state: PerDevice<State>,
    gradient: &PerDevice<Buffer>,
) -> Result<PerDevice<State>> {
    let step = step::load_parallel(client)?;
    let (once, _) = step.call((state, gradient))?;
    let (twice, _) = step.call((state, gradient))?;
    drop(once);
    Ok(twice)
}

fn main() {}
