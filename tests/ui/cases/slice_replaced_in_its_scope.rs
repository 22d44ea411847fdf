// Measured: shared host memory that is freed too early gives wrong results.
// rustc: E0506, the scope borrows `batch` until it ends.
use xla::{Client, Executable, HostVec, Outputs, Result};

fn step(client: &Client, step: &Executable, batch: &mut HostVec<f32>) -> Result<Outputs> {
    let device = client.device(0)?;
    client.scope(|scope| {
        let lent = scope.borrow(&device, batch, &[2])?;
        let outputs = step.run(lent)?;
        *batch = HostVec::zeroed(2);
        Ok(outputs)
    })
}

fn main() {}
