// Foreseen: a number of the host stands in the state of a program.
// rustc: E0277, and how to mend it: skip the field.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: u64,
}

fn main() {}
