// Reported: a donated tree held arrays that belonged to somebody else.
// rustc: the derive's own words.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State<'a> {
    weights: &'a Buffer,
}

fn main() {}
