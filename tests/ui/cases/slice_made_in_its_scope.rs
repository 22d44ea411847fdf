// Measured: shared host memory that is freed too early gives wrong results.
// rustc: E0597, `batch` ends before the scope does.
use xla::{Client, Executable, HostVec, Outputs, Result};

fn step(client: &Client, step: &Executable) -> Result<Outputs> {
    let device = client.device(0)?;
    client.scope(|scope| {
        let batch = HostVec::from_slice(&[1f32, 2.]);
        let lent = scope.borrow(&device, &batch, &[2])?;
        Ok(step.run(lent)?)
    })
}

fn main() {}
