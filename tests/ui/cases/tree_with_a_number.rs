// Reported: a Python number in a donated state was compiled in, or traced, by surprise.
// rustc: E0277, and how to mend it: skip the field.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
    steps: u64,
}

fn main() {}
