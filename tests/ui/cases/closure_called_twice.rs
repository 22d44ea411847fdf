// Reported: a retry called a donating step again with what the first try had consumed.
// rustc: E0382, the closure is used up by its first call.
use xla::{Buffer, Executable, Outputs, Result};

fn step_twice(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Outputs> {
    let bound = || step.run((w, gradient));
    bound()?;
    Ok(bound()?)
}

fn main() {}
