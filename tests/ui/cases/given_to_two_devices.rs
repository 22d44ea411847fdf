// Reported: one array was donated to every replica of a step.
// rustc: E0382, `w` was moved to the first device.
use xla::{Buffer, Executable, Outputs, Result};

fn step(step: &Executable, w: Buffer) -> Result<Vec<Outputs>> {
    Ok(step.run_per_device([w, w])?)
}

fn main() {}
