// A path relative to the folder of Cargo.toml.
use xla::{Buffer, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: &Buffer) -> State;

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step = step::load(&client)?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
        steps: Buffer::scalar(&device, 7i32)?,
    };
    let gradient = crate::pair(&device, [1., 2.])?;
    let state = step.call((state, &gradient))?;
    assert_eq!(state.weights.to_host::<f32>()?, [2., 3.]);
    assert_eq!(state.steps.to_scalar::<i32>()?, 8);
    Ok(())
}
