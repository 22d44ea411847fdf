// Measured: what was lent may be dropped while the run goes on: a run holds what it needs.
use xla::{Device, Executable, Result};

fn train(step: &Executable, device: &Device, steps: usize) -> Result<Vec<f32>> {
    let mut w = crate::pair(device, [0., 0.])?;
    for _ in 0..steps {
        let gradient = crate::pair(device, [1., 2.])?;
        w = step.run((w, &gradient))?.into_single()?;
    }
    w.to_host()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let trained = train(&crate::subtract(&client)?, &device, 100)?;
    assert_eq!(trained, [-100., -200.]);
    Ok(())
}
