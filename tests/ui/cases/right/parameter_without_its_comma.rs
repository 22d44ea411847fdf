// A tuple of one has a comma.
use xla::{Buffer, Executable, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn typed(step: Executable) -> Result<Function<(Give<State>,), State>> {
    step.typed()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let next = typed(crate::double(&client)?)?.call((state,))?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
