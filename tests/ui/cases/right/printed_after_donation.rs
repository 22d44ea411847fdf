// What is to be said of the old state is noted before it is given.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, String)> {
    let old = format!("{w:?}");
    let next = step.run((w, gradient))?.into_single()?;
    let log = format!("{old} became {next:?}");
    Ok((next, log))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let (next, log) = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    assert_eq!(log.matches("f32[2]").count(), 2, "{log}");
    Ok(())
}
