// The new state is the one to read.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = Function<(Give<State>, Ref<Buffer>), State>;

fn train(step: &Step, state: State, gradient: &Buffer) -> Result<State> {
    let next = step.call((state, gradient))?;
    println!("{:?}", next.weights.to_host::<f32>()?);
    Ok(next)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let gradient = crate::pair(&device, [1., 2.])?;
    let next = train(&crate::subtract(&client)?.typed()?, state, &gradient)?;
    assert_eq!(next.weights.to_host::<f32>()?, [2., 3.]);
    Ok(())
}
