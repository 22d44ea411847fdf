// What is computed of it may leave the scope.
use xla::{Client, HostVec, Result};

fn read(client: &Client, values: &HostVec<f32>) -> Result<Vec<f32>> {
    let device = client.device(0)?;
    client.scope(|scope| scope.borrow(&device, values, &[2])?.to_host())
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let values = HostVec::from_slice(&[3f32, 5.]);
    assert_eq!(read(&client, &values)?, [3., 5.]);
    Ok(())
}
