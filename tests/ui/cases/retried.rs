// Reported: a retry called a donating step again with what the first try had consumed.
// rustc: E0507, `w` can't be moved out of a closure that may be called twice.
use xla::{Buffer, Executable, Outputs, Result};

fn retry(mut call: impl FnMut() -> Result<Outputs>) -> Result<Outputs> {
    call().or_else(|_| call())
}

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    retry(|| Ok(step.run((w, gradient))?))?.into_single()
}

fn main() {}
