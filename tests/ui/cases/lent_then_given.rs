// Reported: as when it is given first.
// rustc: E0505, `w` is borrowed when it is moved.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer) -> Result<Buffer> {
    step.run((&w, w))?.into_single()
}

fn main() {}
