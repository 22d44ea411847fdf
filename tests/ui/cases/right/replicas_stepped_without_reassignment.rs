// Each round goes on with what the one before it gave.
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

fn train(
    step: &Step,
    mut state: PerDevice<State>,
    batch: &PerDevice<Batch>,
) -> Result<PerDevice<State>> {
    for _ in 0..3 {
        state = step.call((state, batch))?;
    }
    Ok(state)
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
    let state = train(&crate::subtract_on_two(&client)?.parallel()?, state, &batch)?;
    assert_eq!(state[1].weights.to_host::<f32>()?, [0., -1.]);
    Ok(())
}
