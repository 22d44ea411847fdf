//! What there is of one platform.

use std::env;
use std::path::Path;

use clap::ValueEnum;
use serde_json::{json, Value};
use xla::{ClientOptions, Code, Device, Plugin, PluginExtension, PluginSearch};

use crate::describe;
use crate::worker;

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Platform {
    Cpu,
    Cuda,
    Tpu,
    Rocm,
}

impl Platform {
    pub(super) const ALL: [Platform; 4] =
        [Platform::Cpu, Platform::Cuda, Platform::Tpu, Platform::Rocm];

    pub(super) fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::Cuda => "cuda",
            Platform::Tpu => "tpu",
            Platform::Rocm => "rocm",
        }
    }

    fn search(self) -> PluginSearch {
        match self {
            Platform::Cpu => PluginSearch::cpu(),
            Platform::Cuda => PluginSearch::cuda(),
            Platform::Tpu => PluginSearch::tpu(),
            Platform::Rocm => PluginSearch::rocm(),
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

    /// What there is.
    pub(super) fn look(self) -> Value {
        worker::doing(format_args!("looking for a {} plugin", self.name()));
        let search = self.search();
        let mut told = json!({
            "platform": self.name(),
            "looked": search.places().iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        let more = match search.found() {
            None => json!({
                "state": "missing",
                "message": search.to_string(),
                "mend": search.remedy(),
                "command": search.command(),
            }),
            Some((path, origin)) => {
                worker::doing(format_args!("loading {}", path.display()));
                let origin =
                    json!({"path": path.display().to_string(), "origin": origin.to_string()});
                extend(&mut told, origin);
                match search.load() {
                    Ok(plugin) => self.describe(&plugin),
                    Err(error) => json!({
                        "state": "broken",
                        "message": error.message(),
                        "mend": format!("name a plugin in {}, or {}", search.variable(), search.remedy()),
                        "command": search.command(),
                    }),
                }
            }
        };
        extend(&mut told, more);
        told
    }

    /// What a plugin says of itself.
    fn describe(self, plugin: &Plugin) -> Value {
        worker::with_plugin(plugin);
        let (major, minor) = plugin.api_version();
        let stablehlo = plugin.stablehlo_versions();
        let stablehlo = stablehlo
            .map(|(oldest, own)| json!({"oldest": oldest.to_string(), "own": own.to_string()}));
        let mut found = json!({
            "state": "found",
            "api": format!("{major}.{minor}"),
            "stablehlo": stablehlo,
            "extensions": plugin.extensions().into_iter().map(extension).collect::<Vec<_>>(),
            "missing": self.missing(plugin),
        });
        let devices = match self.signs().iter().any(|sign| Path::new(sign).exists()) {
            true => self.devices(plugin),
            false => json!({
                "devices": [],
                "note": format!(
                    "this machine has no {} to run on: there is no {}",
                    self.name(),
                    self.signs().join(", no ")
                ),
            }),
        };
        extend(&mut found, devices);
        found
    }

    /// What a plugin can't do without, and the command that gets it.
    fn missing(self, plugin: &Plugin) -> Value {
        let packages = plugin.path().and_then(|path| path.ancestors().nth(3));
        match (self, packages) {
            (Platform::Cuda, Some(packages)) if !has_ptxas(packages) => json!([{
                "what": "ptxas, which compiles for NVIDIA GPUs",
                "command": "python3 -m pip install nvidia-cuda-nvcc-cu12",
            }]),
            _ => json!([]),
        }
    }

    fn devices(self, plugin: &Plugin) -> Value {
        worker::doing("making a client");
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

/// Beside the plugin, or on the path.
fn has_ptxas(packages: &Path) -> bool {
    let beside = ["nvidia/cuda_nvcc/bin", "nvidia/cu13/bin"].map(|folder| packages.join(folder));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = beside.into_iter().chain(env::split_paths(&path));
    folders.any(|folder| folder.join("ptxas").is_file())
}

fn extension(extension: PluginExtension) -> Value {
    json!({"number": extension.number(), "name": extension.name()})
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

fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}
