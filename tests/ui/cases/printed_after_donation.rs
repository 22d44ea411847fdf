// Reported: a state that was only to be looked at was consumed ("deleted or donated").
// rustc: E0382, `w` was moved into the call.
use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    let next = step.run((w, gradient))?.into_single()?;
    println!("{w:?} became {next:?}");
    Ok(next)
}

fn main() {}
