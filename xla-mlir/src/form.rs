//! The forms that a program may have, of which one is read here.

use crate::Error;

/// How MLIR bytecode begins.
const BYTECODE: &[u8] = b"ML\xefR";

const WAY_OUT: &str =
    "write the StableHLO text (in JAX `jax.jit(f).lower(..).as_text()`), or load \
                       this file at run time with `xla::Program::from_file`";

/// The program as text, if it is `StableHLO` text as far as its beginning tells.
pub(crate) fn text(code: &[u8]) -> Result<&str, Error> {
    if code.starts_with(BYTECODE) {
        return Err(Error::whole(format!(
            "this is MLIR bytecode or a portable artifact, whose signature can't be read while \
             compiling; {WAY_OUT}"
        )));
    }
    // Protobufs have such bytes in their first fields, text has them nowhere.
    let start = &code[..code.len().min(64)];
    if start
        .iter()
        .any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
    {
        return Err(Error::whole(format!(
            "this is no text, perhaps an HLO protobuf, whose signature can't be read while \
             compiling; {WAY_OUT}"
        )));
    }
    let text = match std::str::from_utf8(code) {
        Ok(text) => text,
        Err(error) => {
            let valid = &code[..error.valid_up_to()];
            let valid = std::str::from_utf8(valid).unwrap_or_default();
            return Err(Error::at(
                valid,
                valid.len(),
                format!("this is no StableHLO text: here it stops being UTF-8; {WAY_OUT}"),
            ));
        }
    };
    if let Some(byte) = text.find('\0') {
        return Err(Error::at(text, byte, "a NUL doesn't belong in a text"));
    }
    if text.trim().is_empty() {
        return Err(Error::whole("the file is empty"));
    }
    if text.trim_start().starts_with("HloModule") {
        return Err(Error::whole(
            "this is HLO text, which PJRT plugins don't take; write StableHLO text (in JAX \
             `jax.jit(f).lower(..).as_text()`)",
        ));
    }
    Ok(text)
}
