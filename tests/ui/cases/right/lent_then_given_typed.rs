// As before; the order of the parameters doesn't matter.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Function<(Ref<State>, Give<State>), State>, state: State) -> Result<State> {
    let old = state.copy_on_device()?;
    Ok(step.call((&old, state))?)
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let program = crate::compile(
        &client,
        "func.func @main(%old: tensor<2xf32>,
                         %w: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
           %next = stablehlo.add %old, %w : tensor<2xf32>
           return %next : tensor<2xf32>
         }",
    )?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let next = step(&program.typed()?, state)?;
    assert_eq!(next.weights.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
