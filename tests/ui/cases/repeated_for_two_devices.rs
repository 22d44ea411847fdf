// Reported: one array stood at two places of what a step donates, and the program hung.
// rustc: E0277, a buffer can't be repeated.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Vec<Outputs>> {
    Ok(step.run_per_device([w; 2])?)
}

fn main() {}
