// Foreseen: a tree passed to a program that has no types yet.
// rustc: E0277, and what takes a tree.
use xla::{Buffer, Executable, Outputs, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn step(step: &Executable, state: State) -> Result<Outputs> {
    Ok(step.run(state)?)
}

fn main() {}
