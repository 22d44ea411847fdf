// Reported: all replicas were made of one set of arrays, which a step then donated on each device.
// rustc: E0382, `state` was moved to the first device.
use xla::{Buffer, Device, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn replicate(_: &[Device], state: State) -> Result<PerDevice<State>> {
    Ok(PerDevice::from_parts([state, state]))
}

fn main() {}
