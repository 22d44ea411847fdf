// Reported: a cloned module held the arrays of its original.
// rustc: E0277, a `Buffer` is not `Clone`.
use xla::{Buffer, Tree};

#[derive(Clone, Tree)]
struct Model {
    weights: Buffer,
}

fn main() {}
