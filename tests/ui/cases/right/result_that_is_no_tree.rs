// A result is a buffer, and its number is read.
use xla::{Buffer, Executable, Function, Give, Ref, Result};

type Step = Function<(Give<Buffer>, Ref<Buffer>), (Buffer, Buffer)>;

fn typed(step: Executable) -> Result<Step> {
    step.typed()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step = typed(crate::subtract_with_loss(&client)?)?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let (w, loss) = step.call((crate::pair(&device, [3., 5.])?, &gradient))?;
    assert_eq!(w.to_host::<f32>()?, [2., 3.]);
    assert_eq!(loss.to_scalar::<f32>()?, 13.);
    Ok(())
}
