// Reported: an optimizer's `init` put the parameters themselves into its state.
// rustc: E0507, `weights` can't be moved out of what was lent.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct Parameters {
    weights: Buffer,
}

#[derive(Tree)]
struct Momentum {
    weights: Buffer,
}

fn init(parameters: &Parameters) -> Momentum {
    Momentum {
        weights: parameters.weights,
    }
}

fn main() {}
