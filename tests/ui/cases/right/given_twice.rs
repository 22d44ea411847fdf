// Lent, one buffer may stand at several places, and stays.
use xla::{Buffer, Executable, Result};

fn add(add: &Executable, w: Buffer) -> Result<Buffer> {
    add.run((&w, &w))?.into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let sum = add(&crate::add(&client)?, crate::pair(&device, [3., 5.])?)?;
    assert_eq!(sum.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
