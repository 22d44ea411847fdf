// Made before the scope, and so dropped after it.
use xla::{Client, Executable, HostVec, Outputs, Result};

fn step(client: &Client, step: &Executable) -> Result<Outputs> {
    let device = client.device(0)?;
    let batch = HostVec::from_slice(&[1f32, 2.]);
    client.scope(|scope| {
        let lent = scope.borrow(&device, &batch, &[2])?;
        Ok(step.run(lent)?)
    })
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let outputs = step(&client, &crate::double(&client)?)?;
    assert_eq!(outputs[0].to_host::<f32>()?, [2., 4.]);
    Ok(())
}
