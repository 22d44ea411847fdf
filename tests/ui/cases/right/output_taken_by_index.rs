// The list of outputs is taken apart by value.
use xla::{Executable, Outputs, Result};

fn again(step: &Executable, outputs: Outputs) -> Result<Outputs> {
    Ok(step.run(outputs.into_single()?)?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let double = crate::double(&client)?;
    let once = double.run(crate::pair(&device, [3., 5.])?)?;
    let twice = again(&double, once)?;
    assert_eq!(twice[0].to_host::<f32>()?, [12., 20.]);
    Ok(())
}
