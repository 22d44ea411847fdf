// `Give` is by value, and donated.
use xla::{Buffer, Each, Executable, Give, ParallelFunction, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<ParallelFunction<(Give<State>,), Each<State>>> {
    step.parallel()
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
    let step = typed(crate::on_two(&client, crate::DOUBLE)?)?;
    let state = step.call((state,))?;
    assert_eq!(state[1].weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
