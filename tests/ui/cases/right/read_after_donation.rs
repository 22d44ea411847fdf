// Read before it is given.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, Vec<f32>)> {
    let before = w.to_host()?;
    let next = step.run((w, gradient))?.into_single()?;
    Ok((next, before))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let (next, before) = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    assert_eq!(before, [3., 5.]);
    Ok(())
}
