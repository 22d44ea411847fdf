// Reported: a state that had other arrays from step to step changed what was donated.
// rustc: the derive's own words.
use xla::{Buffer, Tree};

#[derive(Tree)]
enum Optimizer {
    Plain,
    Momentum(Buffer),
}

fn main() {}
