// Reported: a checkpoint that was written in the background read arrays after the next step had
// donated them.
// rustc: E0521, what was lent can't stay with a thread that lives on.
use xla::{Buffer, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn in_the_background(work: impl FnOnce() + Send + 'static) {
    std::thread::spawn(work);
}

fn save(state: &State) {
    in_the_background(move || println!("{:?}", state.weights.to_host::<f32>()));
}

fn main() {}
