// While a step has the state, the place of it is empty.
use std::sync::{Mutex, PoisonError};

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, shared: &Mutex<Option<Buffer>>, gradient: &Buffer) -> Result<()> {
    let mut place = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(w) = place.take() {
        *place = Some(step.run((w, gradient))?.into_single()?);
    }
    Ok(())
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let subtract = crate::subtract(&client)?;
    let shared = Mutex::new(Some(crate::pair(&device, [3., 5.])?));
    let gradient = crate::pair(&device, [1., 2.])?;
    step(&subtract, &shared, &gradient)?;
    step(&subtract, &shared, &gradient)?;
    let w = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(w.expect("it is back").to_host::<f32>()?, [1., 1.]);
    Ok(())
}
