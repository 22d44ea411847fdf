//! Start fast: keep what was compiled.
//!
//! ```sh
//! cargo run --features fetch-cpu --example 10_keep_executables
//! ```
//!
//! - A client with a compile cache compiles a program once, and loads it from then on, also
//!   in another process.
//! - An executable can be kept by hand as well, in a file or wherever bytes go. Its header is
//!   read without a plugin.
//! - What was loaded takes, gives and donates what was compiled did.

use anyhow::{ensure, Result};
use xla::{
    Buffer, Client, ClientOptions, CompileCache, CompileOptions, Executable, ExecutableHeader,
    Plugin, Program,
};

fn main() -> Result<()> {
    // A program of yours has a folder that stays: `CompileCache::default_dir()`, say. Or leave
    // it to whoever runs it, with XLA_PJRT_COMPILE_CACHE=1 in the environment.
    let dir = std::env::temp_dir().join(format!("xla-lesson-10-{}", std::process::id()));
    let cache = CompileCache::at(&dir);
    let kept = with_a_cache(&cache).and_then(|()| by_hand());
    std::fs::remove_dir_all(&dir)?;
    kept
}

fn with_a_cache(cache: &CompileCache) -> Result<()> {
    let options = ClientOptions::new().compile_cache(cache);

    // The first start compiles. What it compiled is kept.
    let client = Plugin::cpu()?.client_with(&options)?;
    check(&compile(&client)?)?;
    ensure!((cache.stats().misses, cache.stats().stored) == (1, 1));

    // The second one loads it. It would in another process.
    let client = Plugin::cpu()?.client_with(&options)?;
    check(&compile(&client)?)?;
    ensure!(cache.stats().hits == 1);

    // What there is.
    for entry in cache.entries()? {
        let name = entry.name().unwrap_or("?");
        println!("{}...: `{name}`, {} bytes", &entry.key[..8], entry.bytes);
    }

    // A damaged entry costs a compilation, and nothing else.
    let entry = &cache.entries()?[0];
    let path = cache.dir().join(format!("{}.xla", entry.key));
    let mut bytes = std::fs::read(&path)?;
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes)?;
    check(&compile(&client)?)?;
    let stats = cache.stats();
    ensure!((stats.hits, stats.misses, stats.errors) == (1, 2, 1));
    println!("{}", cache.last_error().expect("it was damaged"));
    ensure!(cache.verify()?.iter().all(|entry| entry.header.is_ok()));
    Ok(())
}

fn by_hand() -> Result<()> {
    let client = Client::cpu()?;
    let step = compile(&client)?;
    let bytes = step.serialize()?;

    // Without a client: what it is, and what it was made by and for.
    let header = ExecutableHeader::read(&bytes)?;
    print!("{header}");
    ensure!(header.signature().donated_bytes() == step.signature().donated_bytes());

    // Loaded by the plugin that made it. What isn't whole doesn't reach it.
    check(&client.deserialize(&bytes)?)?;
    let error = client
        .deserialize(&bytes[..bytes.len() / 2])
        .expect_err("a half");
    println!("{error}");
    ensure!(error.function().is_none());
    Ok(())
}

/// `w - 0.5 * g`, in the memory of `w`.
fn compile(client: &Client) -> Result<Executable> {
    let program = Program::from_text(
        r#"
        module @step {
          func.func @main(%w: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                          %g: tensor<2xf32>) -> tensor<2xf32> {
            %rate = stablehlo.constant dense<0.5> : tensor<2xf32>
            %change = stablehlo.multiply %rate, %g : tensor<2xf32>
            %new = stablehlo.subtract %w, %change : tensor<2xf32>
            return %new : tensor<2xf32>
          }
        }"#,
    )?;
    Ok(client.compile(&program, &CompileOptions::new())?)
}

/// However it came about.
fn check(step: &Executable) -> Result<()> {
    let device = &step.devices()[0];
    let w = Buffer::from_host(device, &[1f32, 2.], &[2])?;
    let g = Buffer::from_host(device, &[2f32, 2.], &[2])?;
    ensure!(step.signature().donated_bytes() == 8);
    let new = step.run((w, &g))?.into_single()?;
    ensure!(new.to_host::<f32>()? == [0., 1.]);
    Ok(())
}
