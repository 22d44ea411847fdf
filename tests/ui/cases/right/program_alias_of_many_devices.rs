// The name of the type for many devices.
use xla::{Buffer, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/replicas.mlir", parallel_alias = Step)]
fn step(state: State, gradient: &Buffer) -> (State, Buffer);

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let step: Step = step::load_parallel(&client)?;
    let devices = step.executable().devices();
    let state = PerDevice::from_fn(devices, |_, device| {
        Ok(State {
            weights: crate::pair(device, [3., 5.])?,
            steps: Buffer::scalar(device, 7i32)?,
        })
    })?;
    let gradient = PerDevice::from_fn(devices, |_, device| crate::pair(device, [1., 2.]))?;
    let (state, sum) = step.call((state, &gradient))?;
    assert_eq!(sum[1].to_host::<f32>()?, [2., 4.]);
    assert_eq!(state[1].weights.to_host::<f32>()?, [1., 1.]);
    assert_eq!(state[1].steps.to_scalar::<i32>()?, 8);
    Ok(())
}
