// Foreseen: one layer of a list is given, and the list used on.
// rustc: E0507, an element can't be moved out of a `Vec` by its index.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, layers: Vec<Buffer>, gradient: &Buffer) -> Result<Buffer> {
    step.run((layers[0], gradient))?.into_single()
}

fn main() {}
