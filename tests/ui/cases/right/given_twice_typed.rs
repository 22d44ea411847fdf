// A program that takes two states gets two: the second is copied, in so many words.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn blend(blend: &Function<(Give<State>, Give<State>), State>, state: State) -> Result<State> {
    let copy = state.copy_on_device()?;
    Ok(blend.call((state, copy))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let blended = blend(&crate::add(&client)?.typed()?, state)?;
    assert_eq!(blended.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
