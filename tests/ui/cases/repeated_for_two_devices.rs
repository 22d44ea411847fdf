// Reported: parameters were replicated as one array in a list, and the step donated the list.
// rustc: E0277, a buffer can't be repeated.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Vec<Outputs>> {
    Ok(step.run_per_device([w; 2])?)
}

fn main() {}
