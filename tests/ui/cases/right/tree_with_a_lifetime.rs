// A tree owns its buffers, and is lent as a whole.
use xla::{Buffer, Function, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn evaluate(evaluate: &Function<(Ref<State>,), Buffer>, state: &State) -> Result<f32> {
    evaluate.call((state,))?.to_scalar()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let norm = crate::compile(
        &client,
        "func.func @main(%w: tensor<2xf32>) -> tensor<f32> {
           %norm = stablehlo.dot %w, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
           return %norm : tensor<f32>
         }",
    )?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    assert_eq!(evaluate(&norm.typed()?, &state)?, 34.);
    assert_eq!(state.weights.to_host::<f32>()?, [3., 5.]);
    Ok(())
}
