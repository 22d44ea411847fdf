// Each replica has memory of its own.
use xla::{Buffer, Device, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn replicate(devices: &[Device], state: State) -> Result<PerDevice<State>> {
    PerDevice::replicate_tree(devices, &state)
}

#[test]
fn runs() -> Result<()> {
    let client = crate::two()?;
    let devices = client.devices();
    let state = State {
        weights: crate::pair(&devices[0], [3., 5.])?,
    };
    let state = replicate(&devices, state)?;
    assert_eq!(state[1].weights.to_host::<f32>()?, [3., 5.]);
    Ok(())
}
