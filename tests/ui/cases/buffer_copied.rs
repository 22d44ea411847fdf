// Reported: a copy of an array that was none went with the donated one.
// rustc: E0599, there is no `clone`.
use xla::{Buffer, Executable, Result};

fn keep(step: &Executable, w: Buffer) -> Result<(Buffer, Buffer)> {
    let kept = w.clone();
    Ok((kept, step.run(w)?.into_single()?))
}

fn main() {}
