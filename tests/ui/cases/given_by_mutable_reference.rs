// Reported: an update in place was expected of a library that donates.
// rustc: E0277, an argument is given by value or lent by `&`.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: &mut Buffer, gradient: &Buffer) -> Result<()> {
    step.run((w, gradient))?;
    Ok(())
}

fn main() {}
