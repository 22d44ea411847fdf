// What is wanted of the view is taken before the buffer is given.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, f32)> {
    let first = w.view::<f32>()?[0];
    let next = step.run((w, gradient))?.into_single()?;
    Ok((next, first))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let (next, first) = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.view::<f32>()?[..], [2., 3.]);
    assert_eq!(first, 3.);
    Ok(())
}
