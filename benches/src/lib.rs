//! What the benchmarks have in common: the C API as one would call it by hand, and a
//! way of measuring two things side by side. How to run them: `README.md` beside this
//! package's manifest.

mod clock;
pub mod programs;
pub mod raw;
pub mod side_by_side;

use xla::{Client, ClientOptions, Plugin};

/// As many as the largest program here needs.
pub const MOST_DEVICES: usize = 8;

/// A client of the safe layer and one of the raw API, of one plugin.
///
/// # Panics
/// There is no plugin, or it makes no client.
pub fn clients(devices: usize) -> (Client, raw::Client) {
    let plugin = plugin();
    let safe = client(devices);
    // The second in this order: loading through the safe layer has initialised the plugin.
    let raw = raw::Client::create(&plugin, devices);
    (safe, raw)
}

/// A client of the safe layer.
///
/// # Panics
/// There is no plugin, or it makes no client.
pub fn client(devices: usize) -> Client {
    let options = ClientOptions::new().cpu_device_count(devices);
    plugin()
        .client_with(&options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn plugin() -> Plugin {
    Plugin::cpu().unwrap_or_else(|error| panic!("{error}"))
}

/// Prints what is measured.
pub fn print_plugin() {
    let (major, minor) = plugin().api_version();
    println!("plugin: PJRT API {major}.{minor}");
}
