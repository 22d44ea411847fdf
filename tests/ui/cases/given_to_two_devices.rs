// Reported: one array stood at two places of what a step donates, and the program hung.
// rustc: E0382, `w` was moved to the first device.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Vec<Outputs>> {
    Ok(step.run_per_device([w, w])?)
}

fn main() {}
