// Foreseen: a state that requests share is given by one of them.
// rustc: E0507, the state can't be moved out of a lock's guard.
use std::sync::{Mutex, PoisonError};

use xla::{Buffer, Executable, Result};

fn step(step: &Executable, shared: &Mutex<Buffer>, gradient: &Buffer) -> Result<()> {
    let mut w = shared.lock().unwrap_or_else(PoisonError::into_inner);
    *w = step.run((*w, gradient))?.into_single()?;
    Ok(())
}

fn main() {}
