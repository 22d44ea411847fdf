// Foreseen: what was seen without a copy is overwritten by the next step.
// rustc: E0505, `w` is borrowed by `view` when it is moved.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<(Buffer, f32)> {
    let view = w.view::<f32>()?;
    let next = step.run((w, gradient))?.into_single()?;
    Ok((next, view[0]))
}

fn main() {}
