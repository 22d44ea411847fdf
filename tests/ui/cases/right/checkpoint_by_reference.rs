// The thread has a read of its own, which delivers the values of now.
use std::thread::{self, JoinHandle};

use xla::{Buffer, Result, Tree};

#[derive(Tree)]
struct State {
    weights: Buffer,
}

fn save(state: &State) -> Result<JoinHandle<Result<Vec<f32>>>> {
    let weights = state.weights.to_host_async()?;
    Ok(thread::spawn(move || weights.wait()))
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
    };
    let saved = save(&state)?;
    let next = crate::double(&client)?.run(state.weights)?;
    assert_eq!(saved.join().expect("the thread lives")?, [3., 5.]);
    assert_eq!(next[0].to_host::<f32>()?, [6., 10.]);
    Ok(())
}
