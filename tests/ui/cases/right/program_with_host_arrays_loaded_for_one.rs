// On a single device too.
use xla::{Buffer, HostArray, PerDevice, Result, Split, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
}

#[xla::program("programs/step.mlir")]
fn step(state: State, gradient: Split<Buffer>) -> State;

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let step = step::load_parallel(&client)?;
    let devices = step.executable().devices();
    let state = PerDevice::from_fn(devices, |_, device| {
        Ok(State {
            weights: crate::pair(device, [3., 5.])?,
            steps: Buffer::scalar(device, 7i32)?,
        })
    })?;
    let gradient = HostArray::new(&[1f32, 2.], &[2])?.into();
    let state = step.call((state, &gradient))?;
    assert_eq!(state[0].weights.to_host::<f32>()?, [2., 3.]);
    assert_eq!(state[0].steps.to_scalar::<i32>()?, 8);
    Ok(())
}
