// A function that gives takes by value, which its caller sees.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    step.run((w, gradient))?.into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let next = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    Ok(())
}
