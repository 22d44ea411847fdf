//! The envelope of what was serialised: executables and topologies.
//!
//! What a plugin serialises of an executable is machine code, and loading damaged or foreign
//! bytes is undefined; a topology with a damaged number can be another one. So they are kept with what made them and a checksum, and both are
//! checked before the plugin sees them. This guards against accidents, not against
//! malice: load only files that you trust, as with any program.

use crate::client::Client;
use crate::error::{Code, Error, Result};
use crate::plugin::Plugin;

/// An envelope: magic, checksum of all that follows, the maker's length and text, the
/// payload.
pub(crate) struct Envelope {
    magic: [u8; 8],
    holds: &'static str,
    writer: &'static str,
    remedy: &'static str,
}

/// Holds what an executable was serialised to.
pub(crate) const EXECUTABLE: Envelope = Envelope {
    magic: *b"xlapjrt\x01",
    holds: "serialised executable",
    writer: "Executable::serialize",
    remedy: "compile the program anew",
};

/// Holds what a topology was serialised to.
pub(crate) const TOPOLOGY: Envelope = Envelope {
    magic: *b"xlatopo\x01",
    holds: "serialised topology",
    writer: "Topology::serialize",
    remedy: "make the topology anew",
};

impl Envelope {
    /// Puts a plugin's bytes into the envelope.
    pub(crate) fn wrap(&self, payload: &[u8], maker: &str) -> Vec<u8> {
        let mut body = Vec::with_capacity(payload.len() + maker.len() + 4);
        body.extend_from_slice(&(maker.len() as u32).to_le_bytes());
        body.extend_from_slice(maker.as_bytes());
        body.extend_from_slice(payload);
        let mut whole = Vec::with_capacity(body.len() + 16);
        whole.extend_from_slice(&self.magic);
        whole.extend_from_slice(&checksum(&body).to_le_bytes());
        whole.append(&mut body);
        whole
    }

    /// The payload of an envelope that the maker `here` made.
    pub(crate) fn unwrap<'a>(&self, bytes: &'a [u8], here: &str) -> Result<&'a [u8]> {
        let damaged = |what: &str| {
            Error::new(
                Code::DataLoss,
                format!(
                    "these {} bytes are no whole {}: {what}",
                    bytes.len(),
                    self.holds
                ),
            )
        };
        let rest = bytes.strip_prefix(&self.magic).ok_or_else(|| {
            let writer = self.writer;
            damaged(&format!("they don't begin as `{writer}` writes"))
        })?;
        let (sum, body) = rest
            .split_first_chunk::<8>()
            .ok_or_else(|| damaged("they end early"))?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(damaged("their checksum doesn't fit"));
        }
        let (length, rest) = body
            .split_first_chunk::<4>()
            .ok_or_else(|| damaged("they end early"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (made_by, payload) = rest
            .split_at_checked(length)
            .ok_or_else(|| damaged("they end early"))?;
        let made_by = String::from_utf8_lossy(made_by);
        if made_by != here {
            let Envelope { holds, remedy, .. } = self;
            return Err(Error::new(
                Code::FailedPrecondition,
                format!("the {holds} was made by {made_by}, but this is {here}; {remedy}"),
            ));
        }
        Ok(payload)
    }
}

/// What must be the same where an executable of this client is loaded again.
pub(crate) fn maker_of(client: &Client) -> String {
    maker(
        client.plugin(),
        client.platform_name(),
        client.platform_version(),
    )
}

/// What must be the same where an executable is loaded again. The versions that plugins
/// state say too little (all CPU plugins call theirs `cpu`) and too much (a GPU topology
/// calls the GPU its version, a client the CUDA that it was built for): one counts where the
/// plugin's file isn't known.
pub(crate) fn maker(plugin: &Plugin, platform: &str, version: &str) -> String {
    let mut maker = platform.to_owned();
    if plugin.build().is_none() && version != platform {
        maker.push_str(&format!(" {version}"));
    }
    maker.push_str(&of_plugin(plugin));
    if platform == "cpu" {
        maker.push_str(&format!(", processor {}", processor()));
    }
    maker + ")"
}

/// What must be the same where a topology is read again.
pub(crate) fn maker_of_topologies(plugin: &Plugin) -> String {
    format!("a plugin{})", of_plugin(plugin))
}

fn of_plugin(plugin: &Plugin) -> String {
    let (major, minor) = plugin.api_version();
    let build = plugin.build().map(|build| format!(", build {build:016x}"));
    format!(" (PJRT API {major}.{minor}{}", build.unwrap_or_default())
}

/// The processor's abilities that a compiler makes use of.
#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let abilities = [
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("avx", std::is_x86_feature_detected!("avx")),
        ("f16c", std::is_x86_feature_detected!("f16c")),
        ("fma", std::is_x86_feature_detected!("fma")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512bw", std::is_x86_feature_detected!("avx512bw")),
        ("avx512vl", std::is_x86_feature_detected!("avx512vl")),
    ];
    let present = abilities.iter().filter(|(_, present)| *present);
    let names: Vec<&str> = present.map(|(name, _)| *name).collect();
    format!("x86_64 {}", names.join(" "))
}

/// The processor's abilities that a compiler makes use of.
#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    std::env::consts::ARCH.to_owned()
}

/// FNV-1a over eight bytes at a time: finds accidents, quickly.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
        sum ^= sum >> 29;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn checksums_see_single_bits_and_lengths() {
        let bytes: Vec<u8> = (0..100).collect();
        let sum = checksum(&bytes);
        for bit in 0..800 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&damaged), sum, "bit {bit}");
        }
        assert_ne!(checksum(&bytes[..99]), sum);
        assert_ne!(checksum(&[0; 8]), checksum(&[0; 9]));
    }
}
