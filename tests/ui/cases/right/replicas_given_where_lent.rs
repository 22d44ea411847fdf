// By reference what the next step needs too.
use xla::{Buffer, Each, Give, ParallelFunction, PerDevice, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
}

type Step = ParallelFunction<(Give<State>, Ref<Batch>), Each<State>>;

fn step(
    step: &Step,
    state: PerDevice<State>,
    batch: &PerDevice<Batch>,
) -> Result<PerDevice<State>> {
    Ok(step.call((state, batch))?)
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
    let batch = PerDevice::from_fn(&devices, |_, device| {
        Ok(Batch {
            gradient: crate::pair(device, [1., 2.])?,
        })
    })?;
    let state = step(&crate::subtract_on_two(&client)?.parallel()?, state, &batch)?;
    assert_eq!(state[1].weights.to_host::<f32>()?, [2., 3.]);
    assert_eq!(batch[1].gradient.to_host::<f32>()?, [1., 2.]);
    Ok(())
}
