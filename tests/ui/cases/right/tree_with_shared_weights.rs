// Weights that two layers share are one field, and the program uses it twice.
use xla::{Buffer, Function, Give, Result, Tree};

#[derive(Tree)]
struct Model {
    embedding_and_output: Buffer,
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step: Function<(Give<Model>,), Model> = crate::double(&client)?.typed()?;
    let model = Model {
        embedding_and_output: crate::pair(&device, [3., 5.])?,
    };
    let model = step.call((model,))?;
    assert_eq!(model.embedding_and_output.to_host::<f32>()?, [6., 10.]);
    Ok(())
}
