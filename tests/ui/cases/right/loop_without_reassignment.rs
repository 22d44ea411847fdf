// Each step's state is given to the next.
use xla::{Buffer, Executable, Result};

fn train(step: &Executable, mut w: Buffer, gradients: &[Buffer]) -> Result<Buffer> {
    for gradient in gradients {
        w = step.run((w, gradient))?.into_single()?;
    }
    Ok(w)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradients = [
        crate::pair(&device, [1., 2.])?,
        crate::pair(&device, [2., 4.])?,
    ];
    let trained = train(&crate::subtract(&client)?, w, &gradients)?;
    assert_eq!(trained.to_host::<f32>()?, [0., -1.]);
    Ok(())
}
