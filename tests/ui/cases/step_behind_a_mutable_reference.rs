// Reported: a step that was interrupted before the new state was assigned left a model of
// consumed arrays.
// rustc: E0507, the state can't be moved out of `&mut self`.
use xla::{Buffer, Function, Give, Ref, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

struct Trainer {
    step: Function<(Give<State>, Ref<Buffer>), State>,
    state: State,
}

impl Trainer {
    fn train(&mut self, gradient: &Buffer) -> Result<()> {
        self.state = self.step.call((self.state, gradient))?;
        Ok(())
    }
}

fn main() {}
