// What is to be seen beside the new state is copied first.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer) -> Result<Buffer> {
    let old = w.copy_on_device()?;
    step.run((w, &old))?.into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let next = step(&crate::add(&client)?, crate::pair(&device, [3., 5.])?)?;
    assert_eq!(next.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
