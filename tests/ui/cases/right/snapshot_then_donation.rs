// Reported: an asynchronous checkpoint read arrays after the next step had donated them.
// A read that was started delivers the values of then.
use xla::{Buffer, Executable, Result};

fn train(step: &Executable, mut w: Buffer, steps: usize) -> Result<Vec<Vec<f32>>> {
    let mut snapshots = Vec::new();
    for _ in 0..steps {
        snapshots.push(w.to_host_async::<f32>()?);
        w = step.run(w)?.into_single()?;
    }
    snapshots.into_iter().map(|read| read.wait()).collect()
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let snapshots = train(&crate::double(&client)?, crate::pair(&device, [3., 5.])?, 3)?;
    assert_eq!(snapshots, [[3., 5.], [6., 10.], [12., 20.]]);
    Ok(())
}
