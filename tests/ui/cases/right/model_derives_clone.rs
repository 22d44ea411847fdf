// Two models are two models: each is made of host values.
use xla::{Buffer, Device, Result, Tree};

#[derive(Tree)]
struct Model {
    weights: Buffer,
}

fn init(device: &Device, values: &[f32]) -> Result<Model> {
    Ok(Model {
        weights: Buffer::from_host(device, values, &[values.len()])?,
    })
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let double = crate::double(&client)?;
    let (online, target) = (init(&device, &[3., 5.])?, init(&device, &[3., 5.])?);
    let online = double.run(online.weights)?.into_single()?;
    assert_eq!(online.to_host::<f32>()?, [6., 10.]);
    assert_eq!(target.weights.to_host::<f32>()?, [3., 5.]);
    Ok(())
}
