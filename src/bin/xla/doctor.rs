//! `xla doctor`.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::{json, Value};
use xla::{ClientOptions, Code, CompileCache, Device, Error, Plugin};

use crate::describe;
use crate::report::{Failure, Report};

/// Options of `xla doctor`.
#[derive(clap::Args)]
pub(crate) struct Doctor {
    /// Look at one platform only, in this process and for as long as it takes
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Platform {
    Cpu,
    Cuda,
    Tpu,
    Rocm,
}

const PLATFORMS: [Platform; 4] = [Platform::Cpu, Platform::Cuda, Platform::Tpu, Platform::Rocm];

/// A plugin that hasn't answered by then is left behind.
const PATIENCE: Duration = Duration::from_millis(1500);

impl Platform {
    fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::Cuda => "cuda",
            Platform::Tpu => "tpu",
            Platform::Rocm => "rocm",
        }
    }

    fn find(self) -> Result<Plugin, Error> {
        match self {
            Platform::Cpu => Plugin::cpu(),
            Platform::Cuda => Plugin::cuda(),
            Platform::Tpu => Plugin::tpu(),
            Platform::Rocm => Plugin::rocm(),
        }
    }

    /// What shows that the machine has such devices. Without them, some plugins take minutes to
    /// say so.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Platform::Cpu => &["/"],
            Platform::Cuda => &["/dev/nvidiactl", "/dev/nvidia0"],
            Platform::Tpu => &["/dev/accel0", "/dev/vfio/0"],
            Platform::Rocm => &["/dev/kfd"],
        }
    }

    /// What there is of a platform.
    fn look(self) -> Value {
        let plugin = match self.find() {
            Ok(plugin) => plugin,
            Err(error) => return self.without_plugin(&error),
        };
        let (major, minor) = plugin.api_version();
        let stablehlo = plugin.stablehlo_versions();
        let stablehlo = stablehlo
            .map(|(oldest, own)| json!({"oldest": oldest.to_string(), "own": own.to_string()}));
        let mut found = json!({
            "platform": self.name(),
            "state": "found",
            "path": plugin.path().map(|path| path.display().to_string()),
            "api": format!("{major}.{minor}"),
            "stablehlo": stablehlo,
        });
        let devices = match self.signs().iter().any(|sign| Path::new(sign).exists()) {
            true => self.devices(&plugin),
            false => json!({
                "devices": [],
                "note": format!("no {} on this machine: it has none of {}", self.name(), self.signs().join(", ")),
            }),
        };
        if let (Value::Object(found), Value::Object(devices)) = (&mut found, devices) {
            found.extend(devices);
        }
        found
    }

    /// Splits the message into the places and the way out.
    fn without_plugin(self, error: &Error) -> Value {
        let message = error.message();
        let (places, mend) = match message.split_once("\nTo get one, ") {
            Some((places, mend)) => (places, Some(mend)),
            None => (message, None),
        };
        let looked = places.lines().filter_map(|line| line.strip_prefix("  - "));
        let state = match error.code() {
            Code::NotFound => "missing",
            _ => "broken",
        };
        json!({
            "platform": self.name(),
            "state": state,
            "message": message,
            "looked": looked.collect::<Vec<_>>(),
            "mend": mend,
        })
    }

    fn devices(self, plugin: &Plugin) -> Value {
        let mut options = ClientOptions::new();
        if matches!(self, Platform::Cuda | Platform::Rocm) {
            // Else it takes most of the memory for itself.
            options = options.option("preallocate", false);
        }
        let client = match plugin.client_with(&options) {
            Ok(client) => client,
            Err(error) => {
                return json!({"state": "broken", "message": error.to_string(), "devices": []})
            }
        };
        let devices = client.devices();
        json!({
            "platform_version": client.platform_version(),
            "devices": devices.iter().map(device).collect::<Vec<_>>(),
        })
    }
}

fn device(device: &Device) -> Value {
    let memory = match device.memory_stats() {
        Ok(stats) => json!({
            "bytes_in_use": stats.bytes_in_use,
            "bytes_limit": stats.bytes_limit,
        }),
        Err(error) if error.code() == Code::Unimplemented => Value::Null,
        Err(error) => json!({ "error": describe::error(&error) }),
    };
    let memories = device.memories();
    let kinds: Vec<&str> = memories.iter().map(|memory| memory.kind()).collect();
    json!({
        "id": device.id(),
        "kind": device.kind(),
        "memories": kinds,
        "memory": memory,
    })
}

impl Doctor {
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let platforms = match self.platform {
            Some(platform) => vec![platform.look()],
            None => look_everywhere()?,
        };
        let text: String = platforms.iter().map(text).collect();
        let works = platforms.iter().any(|found| {
            let devices = found["devices"].as_array();
            devices.is_some_and(|devices| !devices.is_empty())
        });
        let mut text = text;
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
    let own = env::current_exe()
        .map_err(|error| Failure::refused(format!("finding this program's own file: {error}")))?;
    let deadline = Instant::now() + PATIENCE;
    let mut started = Vec::new();
    for platform in PLATFORMS {
        let child = Command::new(&own)
            .args(["doctor", "--json", "--platform", platform.name()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let child = child
            .map_err(|error| Failure::refused(format!("starting {}: {error}", own.display())))?;
        started.push((platform, child));
    }
    let answers = started.into_iter();
    Ok(answers
        .map(|(platform, child)| answer(platform, child, deadline))
        .collect())
}

fn answer(platform: Platform, mut child: Child, deadline: Instant) -> Value {
    let gone = |why: String| {
        json!({
            "platform": platform.name(),
            "state": "broken",
            "message": why,
            "mend": format!("see what `xla doctor --platform {}` says", platform.name()),
        })
    };
    // An answer is small enough for the pipe to hold it.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return gone(format!("no answer within {} ms", PATIENCE.as_millis()));
            }
        }
    };
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        let _ = out.read_to_string(&mut text);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(mut told) => told["plugins"][0].take(),
        Err(_) => gone(format!("the plugin ended the process: {status}")),
    }
}

/// A paragraph on a platform.
fn text(found: &Value) -> String {
    let say = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{}: {}", say("platform"), say("state"));
    if say("state") != "found" {
        if found["looked"].as_array().is_some_and(|it| !it.is_empty()) {
            text += ", looked at\n";
            for place in found["looked"].as_array().into_iter().flatten() {
                text += &format!("  - {}\n", place.as_str().unwrap_or_default());
            }
        } else {
            text += &format!("\n  {}\n", say("message"));
        }
        if let Some(mend) = found["mend"].as_str() {
            text += &format!("  to mend it: {mend}\n");
        }
        return text;
    }
    text += &format!(", {}\n  API {}", say("path"), say("api"));
    if let Some(own) = found["stablehlo"]["own"].as_str() {
        let oldest = found["stablehlo"]["oldest"].as_str().unwrap_or_default();
        text += &format!(", StableHLO {oldest} to {own}");
    }
    text.push('\n');
    for device in found["devices"].as_array().into_iter().flatten() {
        let kinds = device["memories"].as_array().into_iter().flatten();
        let kinds: Vec<&str> = kinds.filter_map(Value::as_str).collect();
        text += &format!(
            "  device {}: {}, memory {}",
            device["id"],
            device["kind"].as_str().unwrap_or_default(),
            kinds.join(" ")
        );
        if let Some(limit) = device["memory"]["bytes_limit"].as_i64() {
            text += &format!(
                ", {} of {limit} bytes in use",
                device["memory"]["bytes_in_use"]
            );
        }
        text.push('\n');
    }
    if let Some(note) = found["note"].as_str() {
        text += &format!("  {note}\n");
    }
    text
}
