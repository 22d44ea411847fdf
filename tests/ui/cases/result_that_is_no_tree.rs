// Foreseen: a program whose loss is typed as a number of the host.
// rustc: E0277, a result is a tree of buffers.
use xla::{Buffer, Executable, Function, Give, Result};

fn typed(step: Executable) -> Result<Function<(Give<Buffer>,), (Buffer, f32)>> {
    step.typed()
}

fn main() {}
