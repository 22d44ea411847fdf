//! What the benchmarks have in common: the C API as one would call it by hand, and a
//! way of measuring two things side by side. How to run them: `README.md` beside this
//! package's manifest.

mod clock;
pub mod process;
pub mod programs;
pub mod raw;
pub mod side_by_side;
pub mod table;

use xla::{Client, ClientOptions, Plugin};

/// As many as the largest program here needs.
pub const MOST_DEVICES: usize = 8;

/// A client of the safe layer and one of the raw API, of one plugin.
///
/// # Panics
/// There is no plugin, or it makes no client.
pub fn clients(devices: usize) -> (Client, raw::Client) {
    // The raw one second: loading through the safe layer has initialised the plugin.
    (client(devices), raw_client(devices))
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

/// A client of the raw API.
///
/// # Panics
/// There is no plugin, or it makes no client.
pub fn raw_client(devices: usize) -> raw::Client {
    raw::Client::create(&plugin(), devices)
}

/// The plugin that is measured.
///
/// # Panics
/// There is none.
pub fn plugin() -> Plugin {
    Plugin::cpu().unwrap_or_else(|error| panic!("{error}"))
}
