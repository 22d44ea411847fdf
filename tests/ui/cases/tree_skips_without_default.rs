// Foreseen: a field that a step can't bring back, in a state that a step gives.
// rustc: E0277, a skipped field needs a default.
use xla::{Buffer, Tree};

struct Schedule(f32);

#[derive(Tree)]
struct State {
    weights: Buffer,
    #[tree(skip)]
    schedule: Schedule,
}

fn main() {}
