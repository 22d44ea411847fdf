// The second call takes what the first one gave.
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
    Ok(step.call((once, gradient))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
        steps: Buffer::scalar(&device, 7i32)?,
    };
    let gradient = crate::pair(&device, [1., 2.])?;
    let state = train(&client, state, &gradient)?;
    assert_eq!(state.weights.to_host::<f32>()?, [1., 1.]);
    assert_eq!(state.steps.to_scalar::<i32>()?, 9);
    Ok(())
}
