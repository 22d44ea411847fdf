// The part is taken of the state that there is.
use xla::{Buffer, Each, Give, ParallelFunction, Part, PerDevice, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = ParallelFunction<(Give<State>,), Each<State>>;
type Double = ParallelFunction<(Part<Buffer>,), Each<Buffer>>;

fn step(step: &Step, double: &Double, state: PerDevice<State>) -> Result<PerDevice<Buffer>> {
    let next = step.call((state,))?;
    let weights = next.part(|state| &state.weights);
    Ok(double.call((weights,))?)
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
    let double = crate::on_two(&client, crate::DOUBLE)?.parallel()?;
    let kept = crate::on_two(&client, crate::DOUBLE_KEPT)?.parallel()?;
    let weights = step(&double, &kept, state)?;
    assert_eq!(weights[1].to_host::<f32>()?, [12., 20.]);
    Ok(())
}
