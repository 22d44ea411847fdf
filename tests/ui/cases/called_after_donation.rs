// Reported: the next call met an array of the last one ("buffer has been deleted or donated").
// rustc: E0382, `w` was moved into the first call.
use xla::{Buffer, Executable, Result};

fn step_twice(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    let _once = step.run((w, gradient))?;
    step.run((w, gradient))?.into_single()
}

fn main() {}
