// A copy on the device, by a name that says so.
use xla::{Buffer, Executable, Result};

fn keep(step: &Executable, w: Buffer) -> Result<(Buffer, Buffer)> {
    let kept = w.copy_on_device()?;
    Ok((kept, step.run(w)?.into_single()?))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let (kept, next) = keep(&crate::double(&client)?, crate::pair(&device, [3., 5.])?)?;
    assert_eq!(kept.to_host::<f32>()?, [3., 5.]);
    assert_eq!(next.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
