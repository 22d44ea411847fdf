// Measured: shared host memory that is written too early gives wrong results.
// rustc: E0382, the memory belongs to the buffer.
use xla::{Buffer, Device, HostVec, Result};

fn share(device: &Device, mut values: HostVec<f32>) -> Result<Buffer> {
    let shared = Buffer::from_host_vec(device, values, &[2])?;
    values[0] = 0.0;
    Ok(shared)
}

fn main() {}
