// Foreseen: parameters that an evaluation shares are given by the training.
// rustc: E0507, the state can't be moved out of an `Arc`.
use std::sync::Arc;

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, w: Arc<Buffer>, gradient: &Buffer) -> Result<Buffer> {
    step.run((*w, gradient))?.into_single()
}

fn main() {}
