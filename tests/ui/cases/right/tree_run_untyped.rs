// The program is given types, and takes the tree then.
use xla::{Buffer, Executable, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: Executable, state: State) -> Result<State> {
    Ok(step.typed::<(Give<State>,), State>()?.call((state,))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let next = step(crate::double(&client)?, state)?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
