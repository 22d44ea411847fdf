// Foreseen: one of several outputs is given, and the list used on.
// rustc: E0508, an output can't be moved out of the list by its index.
use xla::{Executable, Outputs, Result};

fn again(step: &Executable, outputs: Outputs) -> Result<Outputs> {
    Ok(step.run(outputs[0])?)
}

fn main() {}
