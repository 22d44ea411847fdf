// A refused call gives back what it was given, for the next try.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, mut w: Buffer, gradients: &[Buffer]) -> Result<Buffer> {
    for gradient in gradients {
        match step.run((w, gradient)) {
            Ok(outputs) => return outputs.into_single(),
            Err(refused) => {
                let (error, mut given) = refused.into_parts();
                match given.pop() {
                    Some(back) => w = back.buffer,
                    None => return Err(error),
                }
            }
        }
    }
    Ok(w)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradients = [
        Buffer::scalar(&device, 1f32)?,
        crate::pair(&device, [1., 2.])?,
    ];
    let next = step(&crate::subtract(&client)?, w, &gradients)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    Ok(())
}
