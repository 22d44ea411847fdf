// What is shown to `init` is copied into the state that it makes.
use xla::{Buffer, Result, Tree};

#[derive(Tree)]
struct Parameters {
    weights: Buffer,
}

#[derive(Tree)]
struct Momentum {
    weights: Buffer,
}

fn init(parameters: &Parameters) -> Result<Momentum> {
    Ok(Momentum {
        weights: parameters.weights.copy_on_device()?,
    })
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let parameters = Parameters {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let momentum = init(&parameters)?;
    // Both are given in one call.
    let step = crate::add(&client)?;
    let sum = step.run((parameters.weights, momentum.weights))?;
    assert_eq!(sum[0].to_host::<f32>()?, [6., 10.]);
    Ok(())
}
