// Foreseen: only some steps give, and what follows reads.
// rustc: E0382, `w` was moved in one branch.
use xla::{Buffer, Executable, Result};

fn warm_up(step: &Executable, w: Buffer, gradient: &Buffer, warm: bool) -> Result<Vec<f32>> {
    if !warm {
        step.run((w, gradient))?;
    }
    w.to_host()
}

fn main() {}
