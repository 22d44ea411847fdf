// Reported: a JAX library's metrics re-installed kept arrays on reset; they were donated by then.
// rustc: E0507, `initial` can't be moved out of the metrics.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct Metrics {
    total: Buffer,
    initial: Buffer,
}

impl Metrics {
    fn reset(&mut self) {
        self.total = self.initial;
    }
}

fn main() {}
