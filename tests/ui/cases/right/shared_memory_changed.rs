// Changed first, shared then.
use xla::{Buffer, Device, HostVec, Result};

fn share(device: &Device, mut values: HostVec<f32>) -> Result<Buffer> {
    values[0] = 0.0;
    Ok(Buffer::from_host_vec(device, values, &[2])?)
}

#[test]
fn runs() -> Result<()> {
    let (_client, device) = crate::cpu()?;
    let shared = share(&device, HostVec::from_slice(&[3f32, 5.]))?;
    assert!(shared.is_zero_copy());
    assert_eq!(shared.to_host::<f32>()?, [0., 5.]);
    Ok(())
}
