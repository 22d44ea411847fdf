// Measured: a donated buffer of shared host memory may have its output there, in the caller's.
// rustc: E0308, a scope's buffer is a reference where the program wants the buffer.
use xla::{Buffer, Client, Function, Give, HostVec, Result};

type Step = Function<(Give<Buffer>,), Buffer>;

fn step(client: &Client, step: &Step, values: &HostVec<f32>) -> Result<Buffer> {
    let device = client.device(0)?;
    client.scope(|scope| {
        let lent = scope.borrow(&device, values, &[2])?;
        Ok(step.call((lent,))?)
    })
}

fn main() {}
