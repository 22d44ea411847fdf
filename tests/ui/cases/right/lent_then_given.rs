// Or both are lent: a program that donates can be run without donating.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer) -> Result<(Buffer, Buffer)> {
    let next = step.run((&w, &w))?.into_single()?;
    Ok((w, next))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let (w, next) = step(&crate::subtract(&client)?, crate::pair(&device, [3., 5.])?)?;
    assert_eq!(w.to_host::<f32>()?, [3., 5.]);
    assert_eq!(next.to_host::<f32>()?, [0., 0.]);
    Ok(())
}
