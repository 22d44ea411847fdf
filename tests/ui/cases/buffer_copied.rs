// Reported: a shallow copy was taken for one of the values, and its arrays were donated elsewhere.
// rustc: E0599, there is no `clone`.
use xla::{Buffer, Executable, Result};

fn keep(step: &Executable, w: Buffer) -> Result<(Buffer, Buffer)> {
    let kept = w.clone();
    Ok((kept, step.run(w)?.into_single()?))
}

fn main() {}
