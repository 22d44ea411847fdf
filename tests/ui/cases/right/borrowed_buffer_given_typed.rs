// Memory that is to be given belongs to its buffer.
use xla::{Buffer, Client, Function, Give, HostVec, Result};

type Step = Function<(Give<Buffer>,), Buffer>;

fn step(client: &Client, step: &Step, values: HostVec<f32>) -> Result<Buffer> {
    let device = client.device(0)?;
    let shared = Buffer::from_host_vec(&device, values, &[2])?;
    Ok(step.call((shared,))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let values = HostVec::from_slice(&[3f32, 5.]);
    let doubled = step(&client, &crate::double(&client)?.typed()?, values)?;
    assert_eq!(doubled.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
