// Foreseen: a thread looks at memory that the next step reuses.
// rustc: E0505, `w` is borrowed by what the thread has.
use std::thread;

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Buffer, gradient: &Buffer) -> Result<Buffer> {
    let view = w.view::<f32>()?;
    thread::scope(|scope| {
        scope.spawn(move || println!("{}", view[0]));
        step.run((w, gradient))?.into_single()
    })
}

fn main() {}
