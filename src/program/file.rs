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

/// A protobuf has no more. What is read from a pipe or a device may have no end.
const MOST: usize = 1 << 31;

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::other("it has more than 2 GiB, which no program has");
    let file = File::open(path)?;
    let stated = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if stated > MOST {
        return Err(too_long());
    }
    let mut code = Vec::new();
    // The file ends when a read gives nothing, which takes room too: without it the memory
    // would be doubled for that.
    code.try_reserve_exact(stated + 1)?;
    file.take(MOST as u64 + 1).read_to_end(&mut code)?;
    if code.len() > MOST {
        return Err(too_long());
    }
    code.try_reserve_exact(1)?;
    Ok(code)
}
