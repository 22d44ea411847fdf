// What is kept over the next step is copied.
use xla::{Buffer, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn keep(state: &PerDevice<State>) -> Result<State> {
    state[0].copy_on_device()
}

#[test]
fn runs() -> Result<()> {
    let client = crate::two()?;
    let devices = client.devices();
    let state = PerDevice::from_fn(&devices, |_, device| {
        Ok(State {
            weights: crate::pair(device, [3., 5.])?,
        })
    })?;
    let best = keep(&state)?;
    drop(state);
    assert_eq!(best.weights.to_host::<f32>()?, [3., 5.]);
    Ok(())
}
