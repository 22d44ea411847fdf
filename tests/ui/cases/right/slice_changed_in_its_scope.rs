// The memory is the caller's again when the scope has ended.
use xla::{Client, Executable, HostVec, Outputs, Result};

fn step(client: &Client, step: &Executable, batch: &mut HostVec<f32>) -> Result<Outputs> {
    let device = client.device(0)?;
    let outputs = client.scope(|scope| -> Result<Outputs> {
        let lent = scope.borrow(&device, batch, &[2])?;
        Ok(step.run(lent)?)
    })?;
    batch[0] = 0.0;
    Ok(outputs)
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let mut batch = HostVec::from_slice(&[3f32, 5.]);
    let outputs = step(&client, &crate::double(&client)?, &mut batch)?;
    assert_eq!(outputs[0].to_host::<f32>()?, [6., 10.]);
    assert_eq!(batch[..], [0., 5.]);
    Ok(())
}
