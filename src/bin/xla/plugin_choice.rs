//! Which plugin a command uses.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use xla::{Client, ClientOptions, CompileOptions, Error, ExecutableHeader, Plugin, Program};

use crate::files;
use crate::kept;
use crate::report::Failure;
use crate::worker;

/// `cpu`, `cuda`, `tpu`, `rocm`, or a plugin's file.
#[derive(Clone, Debug)]
pub(crate) enum PluginChoice {
    Cpu,
    Cuda,
    Tpu,
    Rocm,
    File(PathBuf),
}

impl FromStr for PluginChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<PluginChoice, String> {
        Ok(match text {
            "" => return Err("wanted cpu, cuda, tpu, rocm or a file".to_owned()),
            "cpu" => PluginChoice::Cpu,
            "cuda" => PluginChoice::Cuda,
            "tpu" => PluginChoice::Tpu,
            "rocm" => PluginChoice::Rocm,
            path => PluginChoice::File(path.into()),
        })
    }
}

/// As it is written on the command line.
impl fmt::Display for PluginChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PluginChoice::Cpu => f.write_str("cpu"),
            PluginChoice::Cuda => f.write_str("cuda"),
            PluginChoice::Tpu => f.write_str("tpu"),
            PluginChoice::Rocm => f.write_str("rocm"),
            PluginChoice::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl PluginChoice {
    pub(crate) fn load(&self) -> Result<Plugin, Failure> {
        worker::doing(format_args!("loading the plugin {self}"));
        let plugin = match self {
            PluginChoice::Cpu => Plugin::cpu(),
            PluginChoice::Cuda => Plugin::cuda(),
            PluginChoice::Tpu => Plugin::tpu(),
            PluginChoice::Rocm => Plugin::rocm(),
            PluginChoice::File(path) => Plugin::load(path),
        };
        let plugin = plugin?;
        worker::with_plugin(&plugin);
        Ok(plugin)
    }

    /// A client with at least this many devices, where that can be chosen.
    fn client(&self, devices: usize) -> Result<Client, Failure> {
        let plugin = self.load()?;
        worker::doing("making a client");
        let usual = kept::with_cache(ClientOptions::new());
        let on_cpu = usual.clone().cpu_device_count(devices);
        Ok(match self {
            PluginChoice::Cpu => plugin.client_with(&on_cpu)?,
            // Other plugins than those for the CPU refuse the option.
            PluginChoice::File(_) => match plugin.client_with(&on_cpu) {
                Ok(client) => client,
                Err(_) => plugin.client_with(&usual)?,
            },
            PluginChoice::Tpu => plugin
                .client_with(&usual)
                .map_err(|error| without_devices(&error, "tpu:v5e:2x2"))?,
            PluginChoice::Cuda => plugin
                .client_with(&usual)
                .map_err(|error| without_devices(&error, "cuda:h100:1x1x4"))?,
            PluginChoice::Rocm => plugin.client_with(&usual)?,
        })
    }
}

/// Most who have the plugin and no device want to see a program compiled.
fn without_devices(error: &Error, target: &str) -> Failure {
    let way_out = format!("`xla compile PROGRAM --target {target}` needs none");
    Failure::from(error.clone()).with_way_out(&way_out)
}

/// Where and on how many devices a program is to run.
#[derive(clap::Args)]
pub(crate) struct Placement {
    /// Plugin: cpu, cuda, tpu, rocm or a file
    #[arg(long, value_name = "PLUGIN", default_value = "cpu")]
    plugin: PluginChoice,
    /// Devices that the program is to run on, all together
    #[arg(long, value_name = "N")]
    devices: Option<usize>,
    /// Copies of the program, each on its own data
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,
    /// Devices over which each copy is partitioned
    #[arg(long, value_name = "N")]
    partitions: Option<usize>,
}

/// CPU devices to choose from where none are asked for: a program takes as many as it states.
pub(crate) const CPU_DEVICES: usize = 8;

/// CPU plugins take further devices for another process's, and compile nothing for them.
pub(crate) const MOST_CPU_DEVICES: usize = 2048;

impl Placement {
    /// Whether the command line says on how many devices.
    pub(crate) fn is_chosen(&self) -> bool {
        [self.devices, self.replicas, self.partitions]
            .iter()
            .any(Option::is_some)
    }

    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let product = match (self.replicas, self.partitions) {
            (None, None) => None,
            (replicas, partitions) => Some(
                replicas
                    .unwrap_or(1)
                    .saturating_mul(partitions.unwrap_or(1)),
            ),
        };
        if let Some(0) = self.devices.or(product) {
            return Err(Failure::usage(
                "0 devices run nothing: `--devices`, `--replicas` and `--partitions` count from 1",
            ));
        }
        if self.devices.or(product) > Some(MOST_CPU_DEVICES) {
            return Err(Failure::usage(format!(
                "more than {MOST_CPU_DEVICES} devices were asked for"
            )));
        }
        self.plugin.client(
            self.devices
                .unwrap_or_else(|| product.unwrap_or(1).max(CPU_DEVICES)),
        )
    }

    pub(crate) fn options(&self, client: &Client) -> Result<CompileOptions, Failure> {
        let mut options = CompileOptions::new();
        if let Some(replicas) = self.replicas {
            options = options.replicas(replicas);
        }
        if let Some(partitions) = self.partitions {
            options = options.partitions(partitions);
        }
        if let Some(count) = self.devices {
            let devices = client.devices();
            let Some(devices) = devices.get(..count) else {
                return Err(Failure::refused(format!(
                    "{count} devices were asked for, but the plugin has {}",
                    devices.len()
                )));
            };
            options = options.devices(devices);
        }
        // It is what comes next.
        worker::doing_program("compiling");
        Ok(options)
    }
}

/// Reads a program; a failure names it.
pub(crate) fn read_program(path: &Path) -> Result<Program, Failure> {
    worker::with_program(path);
    worker::doing_program("reading");
    if begins_as_kept(path) {
        return Err(compiled(path));
    }
    Ok(Program::from_file(path)?)
}

/// Whether a file begins as compiled programs do that were kept.
pub(crate) fn begins_as_kept(path: &Path) -> bool {
    // From a pipe nothing may be taken.
    let is_file = path.metadata().is_ok_and(|data| data.is_file());
    is_file && files::beginning(path).is_ok_and(|first| ExecutableHeader::begins(&first))
}

/// Why a compiled program isn't taken for a program.
fn compiled(path: &Path) -> Failure {
    match read_kept(path) {
        Ok(header) => Failure::refused(format!(
            "{} is `{}`, compiled for {} already and kept: `xla inspect` tells what it is, and a \
             Rust program loads it (`Client::deserialize`); take the program that it was compiled \
             from",
            path.display(),
            header.signature().name(),
            header.platform_name()
        )),
        Err(failure) => failure,
    }
}

/// Reads a compiled program that was kept, whose bytes are whole.
pub(crate) fn read_kept(path: &Path) -> Result<ExecutableHeader, Failure> {
    let header = ExecutableHeader::verify(&files::read(path)?);
    header.map_err(|error| Failure::from(error).about(path.display()))
}
