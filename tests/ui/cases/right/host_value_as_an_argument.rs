// A number is put on the device first.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Outputs> {
    let rate = Buffer::scalar(&w.device(), 0.5f32)?;
    Ok(step.run((w, rate))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let multiply = crate::compile(
        &client,
        "func.func @main(%w: tensor<f32> {tf.aliasing_output = 0 : i32},
                         %rate: tensor<f32>) -> tensor<f32> {
           %next = stablehlo.multiply %w, %rate : tensor<f32>
           return %next : tensor<f32>
         }",
    )?;
    let outputs = step(&multiply, Buffer::scalar(&device, 3f32)?)?;
    assert_eq!(outputs[0].to_scalar::<f32>()?, 1.5);
    Ok(())
}
