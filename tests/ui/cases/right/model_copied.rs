// A copy is a copy of the values, and can fail.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct Model {
    weights: Buffer,
}

fn keep(step: &Function<(Give<Model>,), Model>, model: Model) -> Result<(Model, Model)> {
    let kept = model.copy_on_device()?;
    Ok((kept, step.call((model,))?))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let model = Model {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let (kept, next) = keep(&crate::double(&client)?.typed()?, model)?;
    assert_eq!(kept.weights.to_host::<f32>()?, [3., 5.]);
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
