// The whole list is taken and made anew.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, layers: Vec<Buffer>, gradient: &Buffer) -> Result<Vec<Buffer>> {
    let layers = layers.into_iter();
    layers
        .map(|layer| step.run((layer, gradient))?.into_single())
        .collect()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let layers = vec![
        crate::pair(&device, [3., 5.])?,
        crate::pair(&device, [4., 6.])?,
    ];
    let gradient = crate::pair(&device, [1., 2.])?;
    let layers = step(&crate::subtract(&client)?, layers, &gradient)?;
    assert_eq!(layers[0].to_host::<f32>()?, [2., 3.]);
    assert_eq!(layers[1].to_host::<f32>()?, [3., 4.]);
    Ok(())
}
