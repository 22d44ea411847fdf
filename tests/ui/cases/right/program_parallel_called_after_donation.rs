// The second call takes what the first one gave.
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
    let (twice, _) = step.call((once, gradient))?;
    Ok(twice)
}

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
    let gradient = PerDevice::from_fn(devices, |_, device| crate::pair(device, [1., 2.]))?;
    let state = train(&client, state, &gradient)?;
    assert_eq!(state[1].weights.to_host::<f32>()?, [-1., -3.]);
    assert_eq!(state[1].steps.to_scalar::<i32>()?, 9);
    Ok(())
}
