// The second step takes what the first one gave.
use xla::{Buffer, Executable, Result};

fn step_twice(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    let once = step.run((w, gradient))?.into_single()?;
    step.run((once, gradient))?.into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let twice = step_twice(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(twice.to_host::<f32>()?, [1., 1.]);
    Ok(())
}
