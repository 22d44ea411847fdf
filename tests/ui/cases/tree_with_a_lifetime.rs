// Foreseen: a tree that is given holds buffers of somebody else's.
// rustc: the derive's own words.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State<'a> {
    weights: &'a Buffer,
}

fn main() {}
