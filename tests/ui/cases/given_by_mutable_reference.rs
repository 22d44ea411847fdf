// Foreseen: an update in place looks as if it wanted `&mut`.
// rustc: E0277, an argument is given by value or lent by `&`.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: &mut Buffer, gradient: &Buffer) -> Result<()> {
    step.run((w, gradient))?;
    Ok(())
}

fn main() {}
