// Foreseen: a function gives away what its caller only showed it.
// rustc: E0507, `*w` can't be moved out of a reference.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: &Buffer, gradient: &Buffer) -> Result<Buffer> {
    step.run((*w, gradient))?.into_single()
}

fn main() {}
