//! The cache of compiled programs that the environment asks for.

use std::sync::OnceLock;

use xla::{ClientOptions, CompileCache};

static CACHE: OnceLock<Option<CompileCache>> = OnceLock::new();

/// The options, with the cache.
pub(crate) fn with_cache(options: ClientOptions) -> ClientOptions {
    match CACHE.get_or_init(CompileCache::from_env) {
        Some(cache) => options.compile_cache(cache),
        None => options,
    }
}

/// Says on stderr why the cache that was asked for was of no use. It fails no command.
pub(crate) fn tell() {
    let cache = CACHE.get().and_then(Option::as_ref);
    if let Some(error) = cache.and_then(CompileCache::last_error) {
        eprintln!("warning: {}", error.message());
    }
}
