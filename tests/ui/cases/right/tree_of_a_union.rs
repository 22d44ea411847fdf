// A struct has all of its buffers.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct Slot {
    weights: Buffer,
    steps: Buffer,
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step: Function<(Give<Slot>,), Slot> = crate::compile(&client, crate::COUNTED)?.typed()?;
    let slot = Slot {
        weights: crate::pair(&device, [3., 5.])?,
        steps: Buffer::scalar(&device, 1i32)?,
    };
    let slot = step.call((slot,))?;
    assert_eq!(slot.weights.to_host::<f32>()?, [6., 10.]);
    assert_eq!(slot.steps.to_scalar::<i32>()?, 2);
    Ok(())
}
