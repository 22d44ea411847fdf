// Foreseen: a number of the host passed to a program as it is.
// rustc: E0277, an argument is a buffer.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Outputs> {
    Ok(step.run((w, 0.1f32))?)
}

fn main() {}
