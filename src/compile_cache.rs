//! Compiled programs kept on disk, so that the next start is quick.

mod entry;
mod folder;
mod key;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cache::cache_dir;
use crate::client::Client;
use crate::error::{Code, Error, Result};
use crate::executable::Executable;
use crate::executable_header::ExecutableHeader;
use crate::serialized;

pub use entry::{CompileCacheEntry, CompileCacheStats};
pub(crate) use key::{circumstances, Key};

/// A folder in which compiled programs are kept. A client that has one
/// ([`ClientOptions::compile_cache`](crate::ClientOptions::compile_cache)) looks there before
/// it compiles, and puts there what it compiled. Cheap to clone; clones share their
/// [`CompileCache::stats`].
///
/// An entry is found by a hash of all that decides what the compiler makes: the program's
/// bytes, the compile options, the plugin's build, the devices, the client's options, the
/// processor, and the variables that compilers read. What it gives is what compiling gives,
/// signature and donation included. With another plugin version there are other entries;
/// those of the former are left until room is needed.
///
/// The cache never makes a compilation fail. An entry that is damaged is compiled anew and
/// replaced. A folder that is full, read-only or gone costs the time that compiling takes:
/// [`CompileCache::stats`] counts it, and [`CompileCache::last_error`] tells the latest reason.
///
/// Several processes may share a folder. When the
/// entries together are larger than [`CompileCache::max_bytes`] says, those that were not used
/// for longest go. Files of other names are left alone.
///
/// What is kept is machine code, and it is run: a folder into which everybody may write is
/// not used. A missing one is made, for its owner alone.
///
/// What a compiler does beside compiling, such as XLA's dumps, is not done for a program that
/// is found.
///
/// ```
/// use xla::{ClientOptions, CompileCache, CompileOptions, Plugin, Program};
///
/// # fn main() -> xla::Result<()> {
/// # let dir = std::env::temp_dir().join(format!("xla-compile-cache-{}", std::process::id()));
/// let cache = CompileCache::at(&dir);
/// let client = Plugin::cpu()?.client_with(&ClientOptions::new().compile_cache(&cache))?;
/// let program = Program::from_text(
///     "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }",
/// )?;
/// client.compile(&program, &CompileOptions::new())?; // compiled and kept
/// client.compile(&program, &CompileOptions::new())?; // loaded
/// assert_eq!((cache.stats().misses, cache.stats().hits), (1, 1));
/// # std::fs::remove_dir_all(&dir).expect("made here");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CompileCache {
    dir: PathBuf,
    max_bytes: u64,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    stored: AtomicU64,
    evicted: AtomicU64,
    errors: AtomicU64,
    last_error: Mutex<Option<Error>>,
}

/// 4 GiB.
const MAX_BYTES: u64 = 4 << 30;

impl CompileCache {
    /// The variable that turns the cache on for all clients whose options have none.
    const VARIABLE: &'static str = "XLA_PJRT_COMPILE_CACHE";

    /// A cache in this folder, of 4 GiB. The folder is made when something is kept.
    pub fn at(dir: impl Into<PathBuf>) -> CompileCache {
        CompileCache {
            dir: dir.into(),
            max_bytes: MAX_BYTES,
            counts: Arc::default(),
        }
    }

    /// How large the files of all entries may be together, in bytes. A program that is larger
    /// alone isn't kept.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> CompileCache {
        self.max_bytes = bytes;
        self
    }

    /// The usual folder: `executables` in [`cache_dir`]. `None` where that isn't known.
    pub fn default_dir() -> Option<PathBuf> {
        cache_dir().map(|cache| cache.join("executables"))
    }

    /// The cache that the environment asks for: `XLA_PJRT_COMPILE_CACHE` names a folder, or is
    /// `1` for the usual one; unset, empty or `0` is none.
    pub fn from_env() -> Option<CompileCache> {
        let value = std::env::var_os(Self::VARIABLE)?;
        match value.to_str() {
            Some("" | "0") => None,
            Some("1") => Self::default_dir().map(CompileCache::at),
            _ => Some(CompileCache::at(value)),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it did so far, in this process.
    pub fn stats(&self) -> CompileCacheStats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts {
            hits,
            misses,
            stored,
            evicted,
            errors,
            ..
        } = &*self.counts;
        CompileCacheStats {
            hits: read(hits),
            misses: read(misses),
            stored: read(stored),
            evicted: read(evicted),
            errors: read(errors),
        }
    }

    /// The latest of the [`CompileCacheStats::errors`].
    pub fn last_error(&self) -> Option<Error> {
        self.counts.last_error.lock().clone()
    }

    /// All entries, those of other plugins too; the one that was used last at the end. None
    /// where the folder is missing.
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn entries(&self) -> Result<Vec<CompileCacheEntry>> {
        self.read_entries(|key| {
            let first = serialized::PREFIX_BYTES;
            let start = folder::read_start(&self.dir, key, first, serialized::header_end);
            ExecutableHeader::read(&self.present(key, start)?)
        })
    }

    /// All entries as [`CompileCache::entries`], each read to its end: `header` is an error
    /// where the entry isn't whole.
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn verify(&self) -> Result<Vec<CompileCacheEntry>> {
        self.read_entries(|key| {
            let start = folder::read_start(&self.dir, key, usize::MAX, |_| None);
            let header = ExecutableHeader::verify(&self.present(key, start)?)?;
            check_key(&header, key)?;
            Ok(header)
        })
    }

    fn read_entries(
        &self,
        read: impl Fn(&str) -> Result<ExecutableHeader>,
    ) -> Result<Vec<CompileCacheEntry>> {
        let found = folder::entries(&self.dir).map_err(|error| self.told(&error, "listing"))?;
        let entries = found.into_iter().map(|found| CompileCacheEntry {
            header: read(&found.key),
            key: found.key,
            bytes: found.bytes,
            last_used: found.used,
        });
        // What another process has removed meanwhile is no entry.
        let gone = |entry: &CompileCacheEntry| {
            let error = entry.header.as_ref().err();
            error.is_some_and(|error| error.code() == Code::NotFound)
        };
        Ok(entries.filter(|entry| !gone(entry)).collect())
    }

    /// Removes an entry by its key. Whether there was one.
    ///
    /// # Errors
    /// This is no key; the entry can't be removed.
    pub fn remove(&self, key: &str) -> Result<bool> {
        if !folder::is_key(key) {
            return Err(Error::invalid(format!(
                "`{key}` is no key of a compile cache: those have 64 hexadecimal digits"
            )));
        }
        folder::remove(&self.dir, key).map_err(|error| self.told(&error, "removing an entry"))
    }

    /// Removes all entries, and what processes that ended left half-written. Gives how many
    /// entries there were. Other files stay, and so does the folder.
    ///
    /// # Errors
    /// The folder can't be read; an entry can't be removed.
    pub fn clear(&self) -> Result<usize> {
        let clear = || {
            folder::sweep(&self.dir, true)?;
            let mut removed = 0;
            for entry in folder::entries(&self.dir)? {
                removed += usize::from(folder::remove(&self.dir, &entry.key)?);
            }
            Ok(removed)
        };
        clear().map_err(|error| self.told(&error, "removing entries"))
    }

    /// The kept executable, or else a new one, which is then kept.
    pub(crate) fn get_or_compile(
        &self,
        client: &Client,
        key: Key,
        compile: impl FnOnce() -> Result<Executable>,
    ) -> Result<Executable> {
        if let Err(error) = folder::check(&self.dir) {
            self.failed(self.told(&error, "using the folder"));
            self.count(|counts| &counts.misses);
            return compile();
        }
        let name = key.to_string();
        match self.load(client, key, &name) {
            Ok(Some(executable)) => {
                self.count(|counts| &counts.hits);
                return Ok(executable);
            }
            Ok(None) => {}
            Err(error) => self.failed(error),
        }
        self.count(|counts| &counts.misses);
        let executable = compile()?;
        match self.store(&executable, key, &name) {
            Ok(()) => self.count(|counts| &counts.stored),
            Err(error) => self.failed(error),
        }
        self.make_room(&name);
        Ok(executable)
    }

    /// The entry, which fits in all; `None` where there is none.
    fn load(&self, client: &Client, key: Key, name: &str) -> Result<Option<Executable>> {
        let bytes = folder::read(&self.dir, name, self.max_bytes);
        let Some(bytes) = bytes.map_err(|error| self.told(&error, "reading an entry"))? else {
            return Ok(None);
        };
        let is_it = |header: &ExecutableHeader| check_key(header, &key.to_string());
        let loaded = Executable::deserialize_if(client, &bytes, is_it);
        let executable = loaded.map_err(|error| {
            let path = folder::path_of(&self.dir, name);
            error.context(format!("the entry {} of the compile cache", path.display()))
        });
        executable.map(Some)
    }

    fn store(&self, executable: &Executable, key: Key, name: &str) -> Result<()> {
        let bytes = executable
            .serialize_for(Some(key.bytes()))
            .map_err(|error| {
                error.context(format!("keeping `{}`", executable.signature().name()))
            })?;
        if bytes.len() as u64 > self.max_bytes {
            // A damaged one is not to stay in its place.
            let _ = folder::remove(&self.dir, name);
            return Err(Error::new(
                Code::ResourceExhausted,
                format!(
                    "`{}` takes {} bytes, more than the {} that the compile cache may have",
                    executable.signature().name(),
                    bytes.len(),
                    self.max_bytes
                ),
            ));
        }
        folder::write(&self.dir, name, &bytes)
            .map_err(|error| self.told(&error, "writing an entry"))
    }

    /// Removes what was not used for longest until the rest is small enough; not `newest`.
    fn make_room(&self, newest: &str) {
        let make_room = || -> io::Result<()> {
            folder::sweep(&self.dir, false)?;
            let entries = folder::entries(&self.dir)?;
            let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
            for entry in entries.iter().filter(|entry| entry.key != newest) {
                if bytes <= self.max_bytes {
                    break;
                }
                bytes = bytes.saturating_sub(entry.bytes);
                // Another process may have been faster.
                if folder::remove(&self.dir, &entry.key)? {
                    self.count(|counts| &counts.evicted);
                }
            }
            Ok(())
        };
        if let Err(error) = make_room() {
            self.failed(self.told(&error, "making room"));
        }
    }

    fn count(&self, which: impl FnOnce(&Counts) -> &AtomicU64) {
        which(&self.counts).fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self, error: Error) {
        self.count(|counts| &counts.errors);
        *self.counts.last_error.lock() = Some(error);
    }

    /// What was read, where it is still there.
    fn present(&self, key: &str, bytes: io::Result<Option<Vec<u8>>>) -> Result<Vec<u8>> {
        let bytes = bytes.map_err(|error| self.told(&error, "reading an entry"))?;
        bytes.ok_or_else(|| Error::new(Code::NotFound, format!("the entry {key} was removed")))
    }

    fn told(&self, error: &io::Error, doing: &str) -> Error {
        let code = match error.kind() {
            io::ErrorKind::NotFound => Code::NotFound,
            io::ErrorKind::PermissionDenied => Code::PermissionDenied,
            _ => Code::Unavailable,
        };
        let dir = self.dir.display();
        Error::new(code, format!("the compile cache {dir}: {doing}: {error}"))
    }
}

/// Refuses an entry that stands under another one's name.
fn check_key(header: &ExecutableHeader, key: &str) -> Result<()> {
    let stated = header.stated.cache_key.as_deref().unwrap_or_default();
    let stated: String = stated.iter().map(|byte| format!("{byte:02x}")).collect();
    if stated == key {
        return Ok(());
    }
    Err(Error::new(
        Code::DataLoss,
        format!("it states the key `{stated}`, but its file is called by another"),
    ))
}

impl From<&CompileCache> for CompileCache {
    fn from(cache: &CompileCache) -> CompileCache {
        cache.clone()
    }
}

impl fmt::Debug for CompileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileCache")
            .field("dir", &self.dir)
            .field("max_bytes", &self.max_bytes)
            .field("stats", &self.stats())
            .finish()
    }
}
