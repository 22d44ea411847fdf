// A file of `jax.jit(step, keep_unused=True)`, which has all leaves.
use xla::{Buffer, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    seen: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step_with_seen.mlir")]
fn step(state: State) -> State;

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step = step::load(&client)?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
        seen: Buffer::scalar(&device, 4i32)?,
        steps: Buffer::scalar(&device, 7i32)?,
    };
    let state = step.call((state,))?;
    assert_eq!(state.weights.to_host::<f32>()?, [-3., -5.]);
    assert_eq!(state.seen.to_scalar::<i32>()?, 0);
    assert_eq!(state.steps.to_scalar::<i32>()?, 8);
    Ok(())
}
