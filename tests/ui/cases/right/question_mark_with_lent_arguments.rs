// Foreseen: an error that held what was lent couldn't leave the function that made it.
// It holds what was given alone, so `?` works with a batch of the function's own.
use xla::{Buffer, Device, Error, Function, Give, Ref, Result};

type Step = Function<(Give<Buffer>, Ref<Buffer>), Buffer>;

fn step(step: &Step, w: Buffer, device: &Device, gradient: &[f32]) -> Result<Buffer> {
    let local = Buffer::from_host(device, gradient, &[gradient.len()])?;
    Ok(step.call((w, &local))?)
}

fn step_boxed(
    step: &Step,
    w: Buffer,
    device: &Device,
    gradient: &[f32],
) -> std::result::Result<Buffer, Box<dyn std::error::Error + Send + Sync>> {
    let local = Buffer::from_host(device, gradient, &[gradient.len()])?;
    Ok(step.call((w, &local))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let typed: Step = crate::subtract(&client)?.typed()?;
    let next = step(&typed, crate::pair(&device, [3., 5.])?, &device, &[1., 2.])?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    let refused: Error = step(&typed, next, &device, &[1., 2., 3.]).expect_err("three");
    assert!(refused.message().contains("f32[3]"), "{refused}");
    let refused = step_boxed(&typed, crate::pair(&device, [3., 5.])?, &device, &[1.]);
    assert!(refused.expect_err("one").to_string().contains("f32[1]"));
    Ok(())
}
