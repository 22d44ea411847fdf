// Foreseen: a future is dropped half-way, and with it memory that XLA still reads.
// rustc: a lifetime error, a scope can't be kept in a future.
use std::future::Future;

use xla::{Client, Device, HostVec, Result};

fn sum<'a>(
    client: &Client,
    device: &'a Device,
    values: &'a HostVec<f32>,
) -> impl Future<Output = Result<Vec<f32>>> + 'a {
    client.scope(|scope| async move {
        let lent = scope.borrow(device, values, &[2])?;
        lent.to_host_async()?.await
    })
}

fn main() {}
