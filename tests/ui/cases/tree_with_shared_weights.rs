// Reported: one array stood at two places of a donated model, and the program hung.
// rustc: E0277, an `Rc` is no tree: nothing is at two places.
use std::rc::Rc;

use xla::{Buffer, Tree};

#[derive(Tree)]
struct Model {
    embedding: Rc<Buffer>,
    output: Rc<Buffer>,
}

fn main() {}
