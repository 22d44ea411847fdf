// A tuple of one has a comma.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>,), State>, state: State) -> Result<State> {
    Ok(step.call((state,))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let next = step(&crate::double(&client)?.typed()?, state)?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
