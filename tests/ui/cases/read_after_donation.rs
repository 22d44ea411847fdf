// Reported: a donated array was read after the step ("buffer has been deleted or donated").
// rustc: E0382, `w` was moved into the call.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, Vec<f32>)> {
    let next = step.run((w, gradient))?.into_single()?;
    Ok((next, w.to_host()?))
}

fn main() {}
