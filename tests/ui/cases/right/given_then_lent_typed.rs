// What is to be seen beside the new state is copied first.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>, Ref<State>), State>, state: State) -> Result<State> {
    let old = state.copy_on_device()?;
    Ok(step.call((state, &old))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let next = step(&crate::add(&client)?.typed()?, state)?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
