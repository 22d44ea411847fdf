// Reported: a buffer that outlived its client ended the process when it was freed.
// Every handle holds its client.
use xla::{Buffer, Client, Result};

fn buffer_alone() -> Result<Buffer> {
    let client = Client::cpu()?;
    let doubled = crate::double(&client)?.run(crate::pair(&client.device(0)?, [3., 5.])?)?;
    doubled.into_single()
}

#[test]
fn runs() -> Result<()> {
    assert_eq!(buffer_alone()?.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
