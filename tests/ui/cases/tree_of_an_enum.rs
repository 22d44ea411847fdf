// Foreseen: a state's arrays differ from value to value, while a program's inputs are fixed.
// rustc: the derive's own words.
use xla::{Buffer, Tree};

#[derive(Tree)]
enum Optimizer {
    Plain,
    Momentum(Buffer),
}

fn main() {}
