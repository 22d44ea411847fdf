// Reported: a step that was interrupted left a model of consumed arrays.
// A refused call gives the whole tree back.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

type Step = Function<(Give<State>, Ref<Buffer>), State>;

fn step(step: &Step, state: State, gradient: &Buffer) -> Option<State> {
    match step.call((state, gradient)) {
        Ok(next) => Some(next),
        Err(refused) => refused.into_given().map(|(state, ())| state),
    }
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let typed = crate::subtract(&client)?.typed()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let wrong = Buffer::scalar(&device, 1f32)?;
    let kept = step(&typed, state, &wrong).expect("it comes back");
    assert_eq!(kept.weights.to_host::<f32>()?, [3., 5.]);
    let right = crate::pair(&device, [1., 2.])?;
    let next = step(&typed, kept, &right).expect("it runs");
    assert_eq!(next.weights.to_host::<f32>()?, [2., 3.]);
    Ok(())
}
