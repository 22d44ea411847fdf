//! Topologies: devices that need not be there, to compile for.

use std::fmt;
use std::sync::Arc;

use crate::client::Client;
use crate::compile_options::{CompileOptions, Present};
use crate::compiled_program::CompiledProgram;
use crate::device_shape::ShapeTable;
use crate::error::{Code, Result};
use crate::gpu_target::GpuTarget;
use crate::pjrt::topology::RawTopology;
use crate::plugin::Plugin;
use crate::program::Program;
use crate::topology_envelope;
use crate::topology_options::TopologyOptions;
use crate::tpu;
use crate::value::Value;
use crate::xla_flags;

/// Devices described, so that programs can be compiled for them where they aren't: for TPU
/// and GPU on any machine that the plugin can be loaded on. Cheap to clone.
///
/// ```no_run
/// use xla::{CompileOptions, Program, Topology};
///
/// # fn main() -> xla::Result<()> {
/// let four_chips = Topology::tpu("v5e:2x2")?;
/// let program = Program::from_file("train_step.mlir")?;
/// let step = four_chips.compile(&program, &CompileOptions::new())?;
/// println!("{}", step.signature());
/// println!("{:?}", step.memory_stats()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Topology {
    inner: Arc<Inner>,
}

struct Inner {
    raw: Arc<RawTopology>,
    plugin: Plugin,
    platform_name: String,
    platform_version: String,
    devices: Vec<TopologyDevice>,
    attributes: Vec<(String, Value)>,
    fingerprint: Option<u64>,
    shapes: ShapeTable,
}

impl Topology {
    /// TPUs by kind and the chips along each axis: `v5e:2x2`, `v5p:2x2x1`, `v6e:2x4`. The kinds
    /// of libtpu 0.0.52 are v2, v3, v4, v5e, v5p, v6e and tpu7x.
    ///
    /// # Errors
    /// As [`Plugin::tpu`] and [`Plugin::topology`].
    pub fn tpu(name: &str) -> Result<Topology> {
        Plugin::tpu()?.topology(&TopologyOptions::new(name))
    }

    /// NVIDIA GPUs of one kind: `shape` is the number of partitions (GPUs that a fast network
    /// joins), of hosts in each, and of GPUs in each host.
    ///
    /// To compile, the plugin needs `ptxas`: it is found in `nvidia/cuda_nvcc` in the same
    /// `site-packages` as the plugin (the wheel `nvidia-cuda-nvcc-cu12`), on the path, or where
    /// the compile option `xla_gpu_cuda_data_dir` says.
    ///
    /// # Errors
    /// As [`Plugin::cuda`] and [`Plugin::topology`].
    pub fn cuda(target: &GpuTarget, shape: [usize; 3]) -> Result<Topology> {
        Plugin::cuda()?.topology(&TopologyOptions::gpu(target, shape))
    }

    pub(crate) fn create(plugin: &Plugin, options: &TopologyOptions) -> Result<Topology> {
        options.check()?;
        // The compiler reads the flags when it is first used.
        xla_flags::check(plugin.path())?;
        if plugin.is_libtpu() {
            tpu::check_name(&options.name)?;
        }
        let named = &options.named;
        let raw = RawTopology::create(plugin.api(), &options.name, named).map_err(|error| {
            let kinds = match plugin.is_libtpu() {
                true => format!(" (kinds: {})", tpu::KINDS),
                false => String::new(),
            };
            error.context(format!("making the topology `{}`{kinds}", options.name))
        })?;
        Topology::read(plugin, raw)
    }

    pub(crate) fn of_client(client: &Client) -> Result<Topology> {
        Topology::read(client.plugin(), RawTopology::of_client(client.session())?)
    }

    pub(crate) fn deserialize(plugin: &Plugin, bytes: &[u8]) -> Result<Topology> {
        let payload = topology_envelope::unwrap(bytes, plugin)?;
        xla_flags::check(plugin.path())?;
        let raw = RawTopology::deserialize(plugin.api(), payload)
            .map_err(|error| error.context("reading a serialised topology"))?;
        Topology::read(plugin, raw)
    }

    fn read(plugin: &Plugin, raw: RawTopology) -> Result<Topology> {
        let devices = raw.devices()?.into_iter().map(|about| TopologyDevice {
            id: about.id,
            process_index: about.process_index,
            kind: about.kind,
            text: about.text,
            attributes: about.attributes,
        });
        let fingerprint = match raw.fingerprint() {
            Err(error) if error.code() == Code::Unimplemented => None,
            told => Some(told?),
        };
        let attributes = match raw.attributes() {
            Err(error) if error.code() == Code::Unimplemented => Vec::new(),
            told => told?,
        };
        Ok(Topology {
            inner: Arc::new(Inner {
                plugin: plugin.clone(),
                platform_name: raw.platform_name()?,
                platform_version: raw.platform_version()?,
                devices: devices.collect(),
                attributes,
                fingerprint,
                shapes: ShapeTable::default(),
                raw: Arc::new(raw),
            }),
        })
    }

    /// The plugin that described it.
    pub fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// The platform, such as `tpu` (`PJRT_TopologyDescription_PlatformName`).
    pub fn platform_name(&self) -> &str {
        &self.inner.platform_name
    }

    /// The platform's version, free text (`PJRT_TopologyDescription_PlatformVersion`).
    pub fn platform_version(&self) -> &str {
        &self.inner.platform_version
    }

    /// The devices, those of all processes
    /// (`PJRT_TopologyDescription_GetDeviceDescriptions`).
    pub fn devices(&self) -> &[TopologyDevice] {
        &self.inner.devices
    }

    /// What the plugin says of the whole (`PJRT_TopologyDescription_Attributes`); empty where
    /// it says nothing.
    pub fn attributes(&self) -> &[(String, Value)] {
        &self.inner.attributes
    }

    /// One attribute by name.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.attributes().iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// A number that equal topologies of one plugin share
    /// (`PJRT_TopologyDescription_Fingerprint`); `None` where the plugin has none.
    pub fn fingerprint(&self) -> Option<u64> {
        self.inner.fingerprint
    }

    /// The topology as bytes that [`Plugin::deserialize_topology`] reads again, on the same
    /// plugin and version (`PJRT_TopologyDescription_Serialize`).
    ///
    /// # Errors
    /// The plugin can't serialise.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let payload = self.inner.raw.serialize()?;
        Ok(topology_envelope::wrap(&payload, self.plugin()))
    }

    /// Compiles a program for these devices, which need not be there (`PJRT_Compile` without a
    /// client). The result can't run; it tells what would, and can be serialised.
    ///
    /// # Errors
    /// As [`Client::compile`]; the plugin can't compile without its devices, as the CPU plugins.
    pub fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledProgram> {
        CompiledProgram::compile(self, program, options)
    }

    pub(crate) fn raw(&self) -> &Arc<RawTopology> {
        &self.inner.raw
    }

    pub(crate) fn shapes(&self) -> &ShapeTable {
        &self.inner.shapes
    }

    /// The devices that compile options are held against.
    pub(crate) fn present(&self) -> Present {
        Present {
            client: None,
            whose: "the topology",
            ids: self.devices().iter().map(TopologyDevice::id).collect(),
            remedy: "name a larger topology",
            checks_nothing: self.platform_name() == "tpu",
        }
    }
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topology")
            .field("platform", &self.platform_name())
            .field("devices", &self.devices().len())
            .field("plugin", self.plugin())
            .finish()
    }
}

/// A device of a topology: described, perhaps nowhere there.
pub struct TopologyDevice {
    id: i32,
    process_index: i32,
    kind: String,
    text: String,
    attributes: Vec<(String, Value)>,
}

impl TopologyDevice {
    /// The id, unique among all processes' devices (`PJRT_DeviceDescription_Id`).
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The process that has it (`PJRT_DeviceDescription_ProcessIndex`).
    pub fn process_index(&self) -> i32 {
        self.process_index
    }

    /// What kind of device it is, in the vendor's words (`PJRT_DeviceDescription_Kind`).
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What the plugin says of it (`PJRT_DeviceDescription_Attributes`).
    pub fn attributes(&self) -> &[(String, Value)] {
        &self.attributes
    }

    /// One attribute by name.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.attributes.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// Where it stands among the others, along each axis (the attribute `coords`); `None`
    /// where the plugin doesn't say.
    pub fn coords(&self) -> Option<&[i64]> {
        self.attribute("coords")?.as_ints()
    }

    /// The bytes of its memory that programs can use (the attribute
    /// `device_memory_bytes_limit`); `None` where the plugin doesn't say.
    pub fn memory_bytes(&self) -> Option<u64> {
        let bytes = self.attribute("device_memory_bytes_limit")?.as_int()?;
        u64::try_from(bytes).ok()
    }
}

impl fmt::Debug for TopologyDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
