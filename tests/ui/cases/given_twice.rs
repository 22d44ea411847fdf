// Reported: one array stood at two places of a donated model, and the program hung.
// rustc: E0382, `w` was moved to its first place.
use xla::{Buffer, Executable, Result};

fn add(add: &Executable, w: Buffer) -> Result<Buffer> {
    add.run((w, w))?.into_single()
}

fn main() {}
