// Foreseen: a callback holds a buffer of its caller, and runs later.
// rustc: E0597, the thread may outlive `w`.
use xla::{Buffer, Client, Result};

fn in_the_background(work: impl FnOnce() + Send + 'static) {
    std::thread::spawn(work);
}

fn show(client: &Client) -> Result<()> {
    let w = Buffer::scalar(&client.device(0)?, 1f32)?;
    let lent = &w;
    in_the_background(move || println!("{:?}", lent.to_scalar::<f32>()));
    Ok(())
}

fn main() {}
