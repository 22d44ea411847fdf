// Measured: shared host memory that is freed too early gives wrong results.
// rustc: a lifetime error, what the scope lends can't leave it.
use xla::{Client, HostVec, Result};

fn sum(client: &Client, values: &HostVec<f32>) -> Result<Vec<f32>> {
    let device = client.device(0)?;
    let lent = client.scope(|scope| scope.borrow(&device, values, &[2]))?;
    lent.to_host()
}

fn main() {}
