// Reported: a loop without the assignment leaves a state of consumed arrays.
// rustc: E0382, `w` was moved in the previous iteration.
use xla::{Buffer, Executable, Result};

fn train(step: &Executable, w: Buffer, gradients: &[Buffer]) -> Result<()> {
    for gradient in gradients {
        step.run((w, gradient))?;
    }
    Ok(())
}

fn main() {}
