// Given by the last of its owners, lent by the others.
use std::sync::Arc;

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Arc<Buffer>, gradient: &Buffer) -> Result<Buffer> {
    match Arc::try_unwrap(w) {
        Ok(w) => step.run((w, gradient)),
        Err(shared) => step.run((&*shared, gradient)),
    }?
    .into_single()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let subtract = crate::subtract(&client)?;
    let w = Arc::new(crate::pair(&device, [3., 5.])?);
    let gradient = crate::pair(&device, [1., 2.])?;
    let evaluated = Arc::clone(&w);
    let next = step(&subtract, w, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    assert_eq!(evaluated.to_host::<f32>()?, [3., 5.]);
    let next = step(&subtract, evaluated, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    Ok(())
}
