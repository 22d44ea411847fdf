// Taken by value, and given back new: the update happens in place all the same.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    step.run((w, gradient))?.into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let before = w.view::<f32>()?.as_ptr() as usize;
    let next = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.view::<f32>()?[..], [2., 3.]);
    assert_eq!(next.view::<f32>()?.as_ptr() as usize, before);
    Ok(())
}
