// What a step counts is a buffer; what only the host knows is skipped.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: Buffer,
    #[tree(skip)]
    note: Option<String>,
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step: Function<(Give<State>,), State> = crate::compile(&client, crate::COUNTED)?.typed()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
        steps: Buffer::scalar(&device, 1i32)?,
        note: Some("the first".to_owned()),
    };
    let state = step.call((state,))?;
    assert_eq!(state.weights.to_host::<f32>()?, [6., 10.]);
    assert_eq!(state.steps.to_scalar::<i32>()?, 2);
    assert_eq!(state.note, None);
    Ok(())
}
