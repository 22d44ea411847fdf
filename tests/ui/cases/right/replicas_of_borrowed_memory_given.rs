// Memory that is to be given belongs to its buffer.
use xla::{Buffer, Client, Each, Give, HostVec, ParallelFunction, PerDevice, Result};

type Step = ParallelFunction<(Give<Buffer>,), Each<Buffer>>;

fn step(client: &Client, step: &Step, values: &HostVec<f32>) -> Result<PerDevice<Buffer>> {
    let owned = PerDevice::from_fn(&client.devices(), |_, device| {
        Ok(Buffer::from_host_vec(device, values.clone(), &[2])?)
    })?;
    Ok(step.call((owned,))?)
}

#[test]
fn runs() -> Result<()> {
    let client = crate::two()?;
    let values = HostVec::from_slice(&[3f32, 5.]);
    let step = step(
        &client,
        &crate::on_two(&client, crate::DOUBLE)?.parallel()?,
        &values,
    )?;
    assert_eq!(step[1].to_host::<f32>()?, [6., 10.]);
    assert_eq!(*values, [3., 5.]);
    Ok(())
}
