//! The envelope of a serialised topology.
//!
//! A topology with a damaged number can be another one, or end the process. So its bytes are kept
//! with what made them and a checksum, and both are checked before the plugin sees them.

use crate::error::{Code, Error, Result};
use crate::plugin::Plugin;
use crate::serialized::checksum;

/// What the bytes begin with; then come the checksum of all that follows, the maker's length
/// and text, the payload.
const MAGIC: [u8; 8] = *b"xlatopo\x01";

/// Puts a plugin's bytes into the envelope.
pub(crate) fn wrap(payload: &[u8], plugin: &Plugin) -> Vec<u8> {
    let maker = maker(plugin);
    let mut body = Vec::with_capacity(payload.len() + maker.len() + 4);
    body.extend_from_slice(&(maker.len() as u32).to_le_bytes());
    body.extend_from_slice(maker.as_bytes());
    body.extend_from_slice(payload);
    let mut whole = Vec::with_capacity(body.len() + 16);
    whole.extend_from_slice(&MAGIC);
    whole.extend_from_slice(&checksum(&body).to_le_bytes());
    whole.append(&mut body);
    whole
}

/// The plugin's bytes from an envelope that the same plugin made.
pub(crate) fn unwrap<'a>(bytes: &'a [u8], plugin: &Plugin) -> Result<&'a [u8]> {
    let damaged = |what: &str| {
        Error::new(
            Code::DataLoss,
            format!(
                "these {} bytes are no whole serialised topology: {what}",
                bytes.len()
            ),
        )
    };
    let rest = bytes
        .strip_prefix(&MAGIC)
        .ok_or_else(|| damaged("they don't begin as `Topology::serialize` writes"))?;
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
    let (made_by, here) = (String::from_utf8_lossy(made_by), maker(plugin));
    if made_by != here {
        return Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "the serialised topology was made by {made_by}, but this is {here}; make the topology \
                 anew"
            ),
        ));
    }
    Ok(payload)
}

/// What must be the same where a topology is read again.
fn maker(plugin: &Plugin) -> String {
    let (major, minor) = plugin.api_version();
    let build = plugin.build().map(|build| format!(", build {build:016x}"));
    format!(
        "a plugin (PJRT API {major}.{minor}{})",
        build.unwrap_or_default()
    )
}
