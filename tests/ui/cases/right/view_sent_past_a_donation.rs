// The threads that look are done before the buffer is given.
use std::thread;

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, f32)> {
    let view = w.view::<f32>()?;
    let sum = thread::scope(|scope| scope.spawn(move || view.iter().sum()).join());
    let next = step.run((w, gradient))?.into_single()?;
    Ok((next, sum.expect("the thread lives")))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let w = crate::pair(&device, [3., 5.])?;
    let gradient = crate::pair(&device, [1., 2.])?;
    let (next, sum) = step(&crate::subtract(&client)?, w, &gradient)?;
    assert_eq!(next.to_host::<f32>()?, [2., 3.]);
    assert_eq!(sum, 8.);
    Ok(())
}
