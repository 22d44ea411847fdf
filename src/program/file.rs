//! A program's file, read once into memory that it stays in.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Code, Error, Result};

/// The bytes of a file, with room for one more.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    bytes(path).map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => Code::NotFound,
            io::ErrorKind::PermissionDenied => Code::PermissionDenied,
            io::ErrorKind::OutOfMemory => Code::ResourceExhausted,
            _ => Code::Unavailable,
        };
        Error::new(
            code,
            format!("can't read the program {}: {error}", path.display()),
        )
    })
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let stated = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut code = Vec::new();
    // The file ends when a read gives nothing, which takes room too: without it the memory
    // would be doubled for that.
    code.try_reserve_exact(stated.saturating_add(1))?;
    file.read_to_end(&mut code)?;
    code.try_reserve_exact(1)?;
    Ok(code)
}
