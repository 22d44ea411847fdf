// What a thread may outlive is shared with it.
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use xla::{Buffer, Client, Result};

fn show(client: &Client) -> Result<(Arc<Buffer>, JoinHandle<Result<f32>>)> {
    let w = Arc::new(Buffer::scalar(&client.device(0)?, 1f32)?);
    let shared = Arc::clone(&w);
    Ok((w, thread::spawn(move || shared.to_scalar())))
}

#[test]
fn runs() -> Result<()> {
    let (client, _) = crate::cpu()?;
    let (w, shown) = show(&client)?;
    assert_eq!(shown.join().expect("the thread lives")?, 1.);
    assert_eq!(w.to_scalar::<f32>()?, 1.);
    Ok(())
}
