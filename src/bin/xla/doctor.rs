//! `xla doctor`.

mod platform;
mod text;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use xla::CompileCache;

use crate::guard::{Ended, Guarded};
use crate::report::{Failure, Report};

use platform::Platform;

/// Options of `xla doctor`.
#[derive(clap::Args)]
pub(crate) struct Doctor {
    /// Look at one platform only, for as long as it takes, and show what its plugin logs
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
}

/// A plugin that hasn't answered by then, and isn't at work, is left behind.
const PATIENCE: Duration = Duration::from_millis(1500);

impl Doctor {
    /// Whether it loads a plugin in its own process.
    pub(crate) fn looks_here(&self) -> bool {
        self.platform.is_some()
    }

    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let platforms = match self.platform {
            Some(platform) => vec![platform.look()],
            None => look_everywhere()?,
        };
        let mut text: String = platforms.iter().map(text::paragraph).collect();
        let works = platforms.iter().any(|found| {
            let devices = found["devices"].as_array();
            devices.is_some_and(|devices| !devices.is_empty())
        });
        if !works {
            text += "no plugin here runs anything\n";
        }
        let fetched = xla::cache_dir().map(|dir| dir.display().to_string());
        let kept = CompileCache::from_env().map(|cache| cache.dir().display().to_string());
        text += &format!(
            "fetched plugins: {}\ncompile cache: {}\n",
            fetched
                .as_deref()
                .unwrap_or("no folder known, set XLA_PJRT_CACHE"),
            kept.as_deref()
                .unwrap_or("off, set XLA_PJRT_COMPILE_CACHE=1 for one"),
        );
        let json = json!({
            "plugins": platforms,
            "works": works,
            "fetched_plugins": fetched,
            "compile_cache": kept,
        });
        let mut report = Report::new(text, json);
        report.right = works;
        Ok(report)
    }
}

/// Looks at every platform in a process of its own: a plugin may end it, or not come back.
fn look_everywhere() -> Result<Vec<Value>, Failure> {
    let deadline = Instant::now() + PATIENCE;
    let mut started = Vec::new();
    for platform in Platform::ALL {
        let words = ["doctor", "--json", "--platform", platform.name()].map(Into::into);
        let guarded = Guarded::start(&words, Stdio::null(), Stdio::null(), false)?;
        started.push((platform, guarded));
    }
    let answers = started.into_iter();
    answers
        .map(|(platform, guarded)| Ok(answer(platform, guarded.end(Some(deadline))?)))
        .collect()
}

fn answer(platform: Platform, ended: Ended) -> Value {
    let why = match ended {
        Ended::Late => format!("no answer within {} ms", PATIENCE.as_millis()),
        Ended::Died(death) => death.to_string(),
        Ended::Well(text, _) => match serde_json::from_slice::<Value>(&text) {
            Ok(mut told) if told["plugins"][0].is_object() => return told["plugins"][0].take(),
            _ => "the answer can't be read".to_owned(),
        },
    };
    json!({
        "platform": platform.name(),
        "state": "broken",
        "message": why,
        "mend": format!("see what `xla doctor --platform {}` says", platform.name()),
    })
}
