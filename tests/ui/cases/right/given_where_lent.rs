// By reference where it is to stay.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

#[derive(Tree)]
struct Batch {
    gradient: Buffer,
}

type Step = Function<(Give<State>, Ref<Batch>), State>;

fn step(step: &Step, state: State, batch: Batch) -> Result<State> {
    let next = step.call((state, &batch))?;
    Ok(step.call((next, &batch))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let batch = Batch {
        gradient: crate::pair(&device, [1., 2.])?,
    };
    let next = step(&crate::subtract(&client)?.typed()?, state, batch)?;
    assert_eq!(next.weights.to_host::<f32>()?, [1., 1.]);
    Ok(())
}
