// The model is taken apart and put together again from what the call gave.
use xla::{Buffer, Executable, Function, Give, Result, Tree};

#[derive(Tree)]
struct Model {
    weights: Buffer,
    bias: Buffer,
}

fn step(decay: &Executable, step: &Function<(Give<Model>,), Model>, model: Model) -> Result<Model> {
    let Model { weights, bias } = model;
    let weights = decay.run(weights)?.into_single()?;
    Ok(step.call((Model { weights, bias },))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let halve = crate::compile(
        &client,
        "func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
           %half = stablehlo.constant dense<0.5> : tensor<2xf32>
           %decayed = stablehlo.multiply %w, %half : tensor<2xf32>
           return %decayed : tensor<2xf32>
         }",
    )?;
    let shift = crate::compile(
        &client,
        "func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                         %b: tensor<2xf32> {tf.aliasing_output = 1 : i32})
             -> (tensor<2xf32>, tensor<2xf32>) {
           %w1 = stablehlo.add %w, %b : tensor<2xf32>
           %b1 = stablehlo.add %b, %b : tensor<2xf32>
           return %w1, %b1 : tensor<2xf32>, tensor<2xf32>
         }",
    )?;
    let model = Model {
        weights: crate::pair(&device, [3., 5.])?,
        bias: crate::pair(&device, [1., 2.])?,
    };
    let model = step(&halve, &shift.typed()?, model)?;
    assert_eq!(model.weights.to_host::<f32>()?, [2.5, 4.5]);
    assert_eq!(model.bias.to_host::<f32>()?, [2., 4.]);
    Ok(())
}
