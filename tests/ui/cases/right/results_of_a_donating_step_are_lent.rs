// Reported: the mark that donates went over to a step's results, and the next call consumed them.
// How a buffer is passed is said at each call.
use xla::{Buffer, Executable, Result};

fn step_and_look(step: &Executable, w: Buffer) -> Result<(Buffer, Buffer)> {
    let next = step.run(w)?.into_single()?;
    let ahead = step.run(&next)?.into_single()?;
    Ok((next, ahead))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let (next, ahead) = step_and_look(&crate::double(&client)?, crate::pair(&device, [3., 5.])?)?;
    assert_eq!(next.to_host::<f32>()?, [6., 10.]);
    assert_eq!(ahead.to_host::<f32>()?, [12., 20.]);
    Ok(())
}
