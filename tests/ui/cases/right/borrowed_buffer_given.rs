// Lent: the program's donation doesn't touch the host's memory.
use xla::{Client, Executable, HostVec, Outputs, Result};

fn step(client: &Client, step: &Executable, values: &HostVec<f32>) -> Result<Outputs> {
    let device = client.device(0)?;
    client.scope(|scope| {
        let lent = scope.borrow(&device, values, &[2])?;
        Ok(step.run(lent)?)
    })
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let double = crate::double(&client)?;
    assert_eq!(double.signature().donated_bytes(), 8);
    let values = HostVec::from_slice(&[3f32, 5.]);
    let outputs = step(&client, &double, &values)?;
    assert_eq!(outputs[0].to_host::<f32>()?, [6., 10.]);
    assert_eq!(values[..], [3., 5.]);
    Ok(())
}
