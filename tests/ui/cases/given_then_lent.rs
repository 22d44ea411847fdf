// Reported: an array was donated and passed besides ("attempt to donate the same buffer twice").
// rustc: E0382, `w` was moved before it is borrowed.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer) -> Result<Buffer> {
    step.run((w, &w))?.into_single()
}

fn main() {}
