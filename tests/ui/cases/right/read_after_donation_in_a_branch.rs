// Both branches leave a buffer.
use xla::{Buffer, Executable, Result};

fn warm_up(step: &Executable, w: Buffer, gradient: &Buffer, warm: bool) -> Result<Vec<f32>> {
    let w = if warm {
        w
    } else {
        step.run((w, gradient))?.into_single()?
    };
    w.to_host()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step = crate::subtract(&client)?;
    let gradient = crate::pair(&device, [1., 2.])?;
    for (warm, values) in [(true, [3., 5.]), (false, [2., 3.])] {
        let w = crate::pair(&device, [3., 5.])?;
        assert_eq!(warm_up(&step, w, &gradient, warm)?, values);
    }
    Ok(())
}
