//! The envelope of a kept executable.
//!
//! What a plugin serialises is machine code, and loading damaged or foreign bytes is
//! undefined. So they are kept behind a header that says what made them and what they
//! are, with checksums, and all of it is checked before the plugin sees them. One of them is over
//! what the header states of the program and of the bytes together: a header with it needn't be
//! held against what the plugin loads. This guards
//! against accidents, not against malice: load only files that you trust, as with any
//! program.
//!
//! | bytes | what |
//! |---|---|
//! | 7 | `xlapjrt` |
//! | 1 | the format's version |
//! | 4 | the header's length, low byte first |
//! | 8 | the checksum of the 12 bytes before and of the header |
//! | | the header, a protobuf message: `HeaderProto` |
//! | | the plugin's bytes, of the length and checksum that the header states |

use prost::Message;

use crate::client::Client;
use crate::device_shape::ShapeTable;
use crate::error::{Code, Error, Result};
use crate::executable_header::{ExecutableHeader, HeaderProto};

const MAGIC: &[u8] = b"xlapjrt";

/// The version that is written, and the only one that is read.
pub(crate) const FORMAT: u8 = 2;

/// What stands before the header.
const PREFIX: usize = 20;

/// A header is kept small by what it is; more is damage.
pub(crate) const MOST_HEADER: usize = 64 << 20;

/// Puts a plugin's bytes behind a header, to which their length and checksum are added.
pub(crate) fn wrap(mut header: HeaderProto, payload: &[u8]) -> Result<Vec<u8>> {
    header.bind_to(payload);
    let length = header.encoded_len();
    if length > MOST_HEADER {
        return Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "the signature takes {} bytes, more than the {MOST_HEADER} that a kept executable \
                 has for it",
                length
            ),
        ));
    }
    let mut whole = Vec::with_capacity(PREFIX + length + payload.len());
    whole.extend_from_slice(MAGIC);
    whole.push(FORMAT);
    whole.extend_from_slice(&(length as u32).to_le_bytes());
    whole.extend_from_slice(&[0; 8]);
    header.encode(&mut whole).map_err(|error| {
        let what = format!("the header of the kept executable can't be written: {error}");
        Error::new(Code::Internal, what)
    })?;
    let sum = header_checksum(&whole[..12], &whole[PREFIX..]);
    whole[12..PREFIX].copy_from_slice(&sum.to_le_bytes());
    whole.extend_from_slice(payload);
    Ok(whole)
}

/// How many bytes the header ends at, as far as the first bytes say. For reading no more of
/// a file than that.
pub(crate) fn header_end(prefix: &[u8]) -> Option<usize> {
    let length = prefix.get(8..12)?.try_into().ok()?;
    let length = u32::from_le_bytes(length) as usize;
    (length <= MOST_HEADER).then_some(PREFIX + length)
}

/// Whether bytes begin as [`wrap`] writes.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// How many bytes of a file [`header_end`] looks at.
pub(crate) const PREFIX_BYTES: usize = PREFIX;

/// The header, which is whole, and what follows. The header's shapes go to the table.
pub(crate) fn split<'b>(
    bytes: &'b [u8],
    shapes: &ShapeTable,
) -> Result<(ExecutableHeader, &'b [u8])> {
    let damaged = |what: &str| {
        Error::new(
            Code::DataLoss,
            format!(
                "these {} bytes are no whole kept executable: {what}",
                bytes.len()
            ),
        )
    };
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| {
        damaged(if MAGIC.starts_with(bytes) {
            "they end early"
        } else {
            "they don't begin as `Executable::serialize` writes"
        })
    })?;
    match rest.first() {
        None => return Err(damaged("they end early")),
        Some(&FORMAT) => {}
        Some(format) => {
            let age = if *format > FORMAT {
                "a newer"
            } else {
                "an older"
            };
            return Err(Error::new(
                Code::FailedPrecondition,
                format!(
                    "the kept executable is in format {format}, {age} one than the {FORMAT} that \
                     this version of the crate reads; compile the program anew"
                ),
            ));
        }
    }
    let prefix = bytes
        .get(..PREFIX)
        .ok_or_else(|| damaged("they end early"))?;
    let end = header_end(prefix).ok_or_else(|| damaged("the header's length is absurd"))?;
    let (head, payload) = bytes
        .split_at_checked(end)
        .ok_or_else(|| damaged("they end early"))?;
    let header = &head[PREFIX..];
    if header_checksum(&prefix[..12], header).to_le_bytes() != prefix[12..] {
        return Err(damaged("the header's checksum doesn't fit"));
    }
    Ok((ExecutableHeader::decode(header, shapes)?, payload))
}

/// The header and the plugin's bytes, both whole.
pub(crate) fn verified(bytes: &[u8]) -> Result<(ExecutableHeader, &[u8])> {
    let (header, payload) = split(bytes, &ShapeTable::default())?;
    check_payload(&header, payload)?;
    Ok((header, payload))
}

/// The plugin's bytes, which `client` can load, and their header, if `check` lets it pass.
pub(crate) fn unwrap<'a>(
    bytes: &'a [u8],
    client: &Client,
    check: impl FnOnce(&ExecutableHeader) -> Result<()>,
) -> Result<(ExecutableHeader, &'a [u8])> {
    let (header, payload) = split(bytes, &client.session().shapes)?;
    check(&header)?;
    // What was made elsewhere is told as that, without a look at its many bytes.
    header.check_client(client)?;
    check_payload(&header, payload)?;
    Ok((header, payload))
}

fn check_payload(header: &ExecutableHeader, payload: &[u8]) -> Result<()> {
    let (stated, present) = (header.payload_bytes(), payload.len() as u64);
    let name = header.signature().name();
    let what = if present < stated {
        format!("ends early: the plugin's bytes are {stated}, of which {present} are there")
    } else if present > stated {
        format!("is too long: the plugin's bytes are {stated}, but {present} are there")
    } else if checksum(payload) != header.stated.payload_checksum {
        "is damaged: the checksum of the plugin's bytes doesn't fit".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::new(
        Code::DataLoss,
        format!("the kept executable of `{name}` {what}; compile the program anew"),
    ))
}

fn header_checksum(prefix: &[u8], header: &[u8]) -> u64 {
    // Of both in turn: the second sum stands for its bytes.
    let mut both = prefix.to_vec();
    both.extend_from_slice(&checksum(header).to_le_bytes());
    checksum(&both)
}

/// FNV-1a over eight bytes at a time: finds accidents, quickly.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    let mut add = |word: [u8; 8]| {
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
        sum ^= sum >> 29;
    };
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0u8; 8];
        word.copy_from_slice(chunk);
        add(word);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut word = [0u8; 8];
        word[..rest.len()].copy_from_slice(rest);
        add(word);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

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
