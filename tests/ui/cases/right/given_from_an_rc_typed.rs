// Only the last owner can give.
use std::rc::Rc;

use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Give<State>,), State>, state: Rc<State>) -> Result<Option<State>> {
    match Rc::into_inner(state) {
        Some(state) => Ok(Some(step.call((state,))?)),
        None => Ok(None),
    }
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let double = crate::double(&client)?.typed()?;
    let state = Rc::new(State {
        weights: crate::pair(&device, [3., 5.])?,
    });
    let other = Rc::clone(&state);
    assert!(step(&double, state)?.is_none());
    let next = step(&double, other)?.expect("the last owner gave");
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
