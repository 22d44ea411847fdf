//! What a compiled program depends on.

use std::fmt::Debug;

use crate::client::Client;
use crate::origin::Origin;
use crate::program::Program;
use crate::serialized::FORMAT;
use crate::sha256::Sha256;

/// The name of an entry: a hash of all that decides what a compiler makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Of a program and its encoded options, compiled by this client.
    pub(crate) fn new(client: &Client, program: &Program, options: &[u8]) -> Key {
        let mut parts = Parts(Sha256::new());
        parts.add(&[FORMAT]);
        parts.add(program.format_name().as_bytes());
        parts.add(program.as_bytes());
        parts.add(options);
        parts.add(client.session().circumstances());
        Key(parts.0.finish())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What the programs of a client depend on beside themselves and their options: the
/// plugin, the devices, the client's options and the compilers' variables.
///
/// A plugin of 200 MB can't be read each time. It is known by what it states, by the size
/// and the first page of its file, where linkers put the build's id and the sizes of all
/// parts, and by the time at which the file was last written. All of them are of when it
/// was loaded. What is there in vain only costs a compilation.
pub(crate) fn circumstances(client: &Client, options: &[(String, impl Debug)]) -> Vec<u8> {
    let mut parts = Parts(Sha256::new());
    parts.debug(&Origin::here(client));
    parts.debug(&client.plugin().modified());
    for device in client.all_devices() {
        parts.debug(&(
            device.id(),
            device.process_index(),
            device.is_addressable(),
            device.kind(),
            device.attributes(),
        ));
    }
    parts.debug(&client.process_index());
    parts.debug(&options);
    // Compilers for CPU cut loops for as many threads as there are.
    parts.debug(&std::thread::available_parallelism().ok());
    for name in VARIABLES {
        parts.debug(&std::env::var_os(name));
    }
    // XLA_FLAGS may name a file of flags.
    let flags = std::env::var_os("XLA_FLAGS").unwrap_or_default();
    parts.debug(&std::fs::read(flags).ok());
    parts.0.finish().to_vec()
}

/// Variables that compilers read.
const VARIABLES: [&str; 5] = [
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "LIBTPU_INIT_ARGS",
    "NVIDIA_TF32_OVERRIDE",
    "NPROC",
];

/// Parts with their lengths, so that no two lists of them are one text.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn debug(&mut self, part: &impl Debug) {
        self.add(format!("{part:?}").as_bytes());
    }
}

/// As the entry's file is called.
impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
