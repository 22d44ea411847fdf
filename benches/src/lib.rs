//! What the benchmarks have in common: the C API as one would call it by hand, and a
//! way of measuring two things side by side.
//!
//! ```sh
//! cargo bench -p xla-pjrt-benches --features fetch-cpu
//! cargo bench -p xla-pjrt-benches --features fetch-cpu --bench call
//! ```
//!
//! `XLA_PJRT_CPU_PLUGIN` takes another plugin. Each benchmark prints one line of its
//! own, with the ratio of safe to raw, before what criterion has to say.

pub mod raw;
pub mod side_by_side;

use xla::{Client, ClientOptions, Plugin};

/// As many as the largest program here needs.
pub const DEVICES: usize = 4;

/// A client of the safe layer and one of the raw API, of one plugin.
///
/// # Panics
/// There is no plugin, or it makes no client.
pub fn clients() -> (Client, raw::Client) {
    let plugin = Plugin::cpu().unwrap_or_else(|error| panic!("{error}"));
    let options = ClientOptions::new().cpu_device_count(DEVICES);
    let safe = plugin
        .client_with(&options)
        .unwrap_or_else(|error| panic!("{error}"));
    let (major, minor) = plugin.api_version();
    println!("plugin: PJRT API {major}.{minor}");
    // The second in this order: loading through the safe layer has initialised the plugin.
    let raw = raw::Client::create(&plugin, DEVICES);
    (safe, raw)
}
