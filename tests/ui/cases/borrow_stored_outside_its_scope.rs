// Measured: shared host memory that is freed too early gives wrong results.
// rustc: E0521, what the scope lends can't leave it by a variable either.
use xla::{Client, HostVec, Result};

fn sum(client: &Client, values: &HostVec<f32>) -> Result<Vec<f32>> {
    let device = client.device(0)?;
    let mut kept = None;
    client.scope(|scope| -> Result<()> {
        kept = Some(scope.borrow(&device, values, &[2])?);
        Ok(())
    })?;
    kept.expect("it was set").to_host()
}

fn main() {}
