// What is computed of it may leave the scope by a variable too.
use xla::{Client, Executable, HostVec, Result};

fn double(client: &Client, double: &Executable, values: &HostVec<f32>) -> Result<Vec<f32>> {
    let device = client.device(0)?;
    let mut kept = None;
    client.scope(|scope| -> Result<()> {
        let lent = scope.borrow(&device, values, &[2])?;
        kept = Some(double.run(lent)?.into_single()?);
        Ok(())
    })?;
    kept.expect("it was set").to_host()
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let values = HostVec::from_slice(&[3f32, 5.]);
    let doubled = double(&client, &crate::double(&client)?, &values)?;
    assert_eq!(doubled, [6., 10.]);
    Ok(())
}
