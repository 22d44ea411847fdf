// A read owns what it needs: it is a future that may leave the scope.
use xla::{Client, Device, HostRead, HostVec, Result};

fn read(client: &Client, device: &Device, values: &HostVec<f32>) -> Result<HostRead<f32>> {
    client.scope(|scope| scope.borrow(device, values, &[2])?.to_host_async())
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let values = HostVec::from_slice(&[3f32, 5.]);
    let read = read(&client, &device, &values)?;
    drop(values);
    assert_eq!(read.wait()?, [3., 5.]);
    Ok(())
}
