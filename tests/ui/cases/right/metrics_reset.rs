// The reset installs a copy of what is kept.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct Metrics {
    total: Buffer,
    initial: Buffer,
}

impl Metrics {
    fn reset(&mut self) -> Result<()> {
        self.total = self.initial.copy_on_device()?;
        Ok(())
    }
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let update: Function<(Give<Metrics>, Ref<Buffer>), Metrics> = crate::compile(
        &client,
        "func.func @main(%total: tensor<f32> {tf.aliasing_output = 0 : i32},
                         %initial: tensor<f32> {tf.aliasing_output = 1 : i32},
                         %loss: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
           %sum = stablehlo.add %total, %loss : tensor<f32>
           return %sum, %initial : tensor<f32>, tensor<f32>
         }",
    )?
    .typed()?;
    let mut metrics = Metrics {
        total: Buffer::scalar(&device, 7f32)?,
        initial: Buffer::scalar(&device, 1f32)?,
    };
    let loss = Buffer::scalar(&device, 2f32)?;
    let mut totals = Vec::new();
    for _ in 0..2 {
        metrics = update.call((metrics, &loss))?;
        totals.push(metrics.total.to_scalar::<f32>()?);
        metrics.reset()?;
    }
    assert_eq!(totals, [9., 3.]);
    assert_eq!(metrics.initial.to_scalar::<f32>()?, 1.);
    Ok(())
}
