// Reported: a step was given the state and also handed it along as the old state to compare with.
// rustc: E0382, `w` was moved before it is borrowed.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer) -> Result<Buffer> {
    step.run((w, &w))?.into_single()
}

fn main() {}
