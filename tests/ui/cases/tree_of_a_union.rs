// Foreseen: as an enum, for completeness.
// rustc: the derive's own words.
use std::mem::ManuallyDrop;

use xla::{Buffer, Tree};

#[derive(Tree)]
union Slot {
    weights: ManuallyDrop<Buffer>,
    steps: u64,
}

fn main() {}
