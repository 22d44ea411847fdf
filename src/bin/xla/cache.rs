//! `xla cache`.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{json, Value};
use xla::{CompileCache, CompileCacheEntry};

use crate::report::{table, Failure, Report};

/// Options of `xla cache`.
#[derive(clap::Args)]
pub(crate) struct Cache {
    #[command(subcommand)]
    action: Action,
    /// The folder; else that of `XLA_PJRT_COMPILE_CACHE`, else the usual one
    #[arg(long, global = true)]
    dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// List the compiled programs, the one that was used last at the end
    Ls,
    /// Remove compiled programs by their keys, or the beginnings of those
    Rm {
        /// Keys, as `xla cache ls` tells them
        #[arg(required_unless_present = "all")]
        keys: Vec<String>,
        /// Remove all of them
        #[arg(long, conflicts_with = "keys")]
        all: bool,
    },
    /// Read every compiled program to its end: 1 is the exit code where one is damaged
    Verify,
}

impl Cache {
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let cache = self.cache()?;
        match &self.action {
            Action::Ls => Ok(listed(&cache, &cache.entries()?)),
            Action::Verify => {
                let entries = cache.verify()?;
                let mut report = listed(&cache, &entries);
                report.right = entries.iter().all(|entry| entry.header.is_ok());
                report.json.insert("whole".to_owned(), report.right.into());
                report.text += match report.right {
                    true => "all are whole\n",
                    false => "some are damaged: they are compiled anew when they are needed\n",
                };
                Ok(report)
            }
            Action::Rm { all: true, .. } => {
                let count = cache.clear()?;
                Ok(removed(&cache, count, &[]))
            }
            Action::Rm { keys, .. } => {
                let keys = full_keys(&cache, keys)?;
                for key in &keys {
                    cache.remove(key)?;
                }
                Ok(removed(&cache, keys.len(), &keys))
            }
        }
    }

    fn cache(&self) -> Result<CompileCache, Failure> {
        if let Some(dir) = &self.dir {
            return Ok(CompileCache::at(dir));
        }
        let usual = || CompileCache::default_dir().map(CompileCache::at);
        CompileCache::from_env().or_else(usual).ok_or_else(|| {
            Failure::refused("no folder is known: name one with `--dir`, or set XLA_PJRT_CACHE")
        })
    }
}

/// Finds what each beginning of a key stands for, before anything is removed.
fn full_keys(cache: &CompileCache, keys: &[String]) -> Result<Vec<String>, Failure> {
    let entries = cache.entries()?;
    let find = |start: &String| {
        let mut found = entries
            .iter()
            .filter(|entry| entry.key.starts_with(start.as_str()));
        match (found.next(), found.next()) {
            (Some(entry), None) => Ok(entry.key.clone()),
            (None, _) => Err(Failure::refused(format!(
                "no compiled program in {} has a key that begins with `{start}`",
                cache.dir().display()
            ))),
            (Some(_), Some(_)) => Err(Failure::refused(format!(
                "several keys begin with `{start}`; write more of it"
            ))),
        }
    };
    let mut keys = keys.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    keys.sort();
    keys.dedup();
    Ok(keys)
}

fn removed(cache: &CompileCache, count: usize, keys: &[String]) -> Report {
    let dir = cache.dir().display().to_string();
    let text = format!("{count} removed from {dir}\n");
    Report::new(text, json!({"dir": dir, "removed": count, "keys": keys}))
}

fn listed(cache: &CompileCache, entries: &[CompileCacheEntry]) -> Report {
    let dir = cache.dir().display().to_string();
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let programs = match entries.len() {
        1 => "1 compiled program".to_owned(),
        count => format!("{count} compiled programs"),
    };
    let mut text = format!("{dir}: {programs}, {bytes} bytes\n");
    let rows = entries.iter().map(|entry| {
        vec![
            entry.key[..12].to_owned(),
            format!("{} bytes", entry.bytes),
            format!("used {} s ago", entry.age().as_secs()),
            about(entry),
        ]
    });
    text += &table(&rows.collect::<Vec<_>>());
    let entries = entries.iter().map(|entry| {
        let header = entry.header.as_ref();
        json!({
            "key": entry.key,
            "bytes": entry.bytes,
            "age_seconds": entry.age().as_secs(),
            "name": entry.name(),
            "platform": header.ok().map(|header| header.platform_name()),
            "platform_version": header.ok().map(|header| header.platform_version()),
            "error": header.err().map(|error| error.message()),
        })
    });
    let entries: Vec<Value> = entries.collect();
    Report::new(
        text,
        json!({"dir": dir, "bytes": bytes, "entries": entries}),
    )
}

fn about(entry: &CompileCacheEntry) -> String {
    match &entry.header {
        Ok(header) => format!("{}, {}", header.signature().name(), header.platform_name()),
        Err(error) => format!("damaged: {}", error.message()),
    }
}
