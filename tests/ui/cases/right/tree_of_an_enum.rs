// What may be missing is an `Option`.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct Optimizer {
    weights: Buffer,
    momentum: Option<Buffer>,
}

type Step = Function<(Give<Optimizer>,), Optimizer>;

fn plain(step: &Step, weights: Buffer) -> Result<Optimizer> {
    let momentum = None;
    Ok(step.call((Optimizer { weights, momentum },))?)
}

fn with_momentum(step: &Step, weights: Buffer, momentum: Buffer) -> Result<Optimizer> {
    let momentum = Some(momentum);
    Ok(step.call((Optimizer { weights, momentum },))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let weights = crate::pair(&device, [3., 5.])?;
    let next = plain(&crate::double(&client)?.typed()?, weights)?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    assert!(next.momentum.is_none());

    let descend = crate::compile(
        &client,
        "func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                         %m: tensor<2xf32> {tf.aliasing_output = 1 : i32})
             -> (tensor<2xf32>, tensor<2xf32>) {
           %next = stablehlo.subtract %w, %m : tensor<2xf32>
           return %next, %m : tensor<2xf32>, tensor<2xf32>
         }",
    )?;
    let momentum = crate::pair(&device, [1., 2.])?;
    let next = with_momentum(&descend.typed()?, next.weights, momentum)?;
    assert_eq!(next.weights.to_host::<f32>()?, [5., 8.]);
    let momentum = next.momentum.expect("it went in");
    assert_eq!(momentum.to_host::<f32>()?, [1., 2.]);
    Ok(())
}
