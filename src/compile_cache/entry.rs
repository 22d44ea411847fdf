//! What a compile cache tells of itself.

use std::time::{Duration, SystemTime};

use crate::error::Result;
use crate::executable_header::ExecutableHeader;

/// What a [`CompileCache`](crate::CompileCache) did in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileCacheStats {
    /// Programs that were loaded.
    pub hits: u64,
    /// Programs that had to be compiled.
    pub misses: u64,
    /// Programs that were put into the folder.
    pub stored: u64,
    /// Entries that were removed for want of room.
    pub evicted: u64,
    /// What went wrong, none of which failed a compilation: entries that were damaged or
    /// couldn't be loaded, read, written or removed.
    pub errors: u64,
}

/// An entry of a [`CompileCache`](crate::CompileCache).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileCacheEntry {
    /// What it is found by: 64 hexadecimal digits.
    pub key: String,
    /// The size of its file.
    pub bytes: u64,
    /// When it was loaded last, or else written.
    pub last_used: SystemTime,
    /// What it is, the program's name, signature and platform among it; or why that can't be
    /// read.
    pub header: Result<ExecutableHeader>,
}

impl CompileCacheEntry {
    /// The time since it was used last; zero where the clock says that it is still to come.
    pub fn age(&self) -> Duration {
        self.last_used.elapsed().unwrap_or_default()
    }

    /// The program's name, where it can be read.
    pub fn name(&self) -> Option<&str> {
        self.header
            .as_ref()
            .ok()
            .map(|header| header.signature().name())
    }
}
