//! Clients: a plugin at work on a set of devices.

use std::fmt;
use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::account::Account;
use crate::compile_cache::{self, CompileCache};
use crate::compile_options::{CompileOptions, Present};
use crate::device::Device;
use crate::device_shape::ShapeTable;
use crate::error::{Code, Error, Result};
use crate::executable::Executable;
use crate::launch::LaunchOrder;
use crate::memory::Memory;
use crate::pjrt::api::Api;
use crate::pjrt::buffer;
use crate::pjrt::client::{DeviceFacts, MemoryFacts, RawClient};
use crate::pjrt::scope::{self, Scope};
use crate::plugin::Plugin;
use crate::program::Program;
use crate::topology::Topology;
use crate::upload::{self, LayoutHabit};
use crate::value::Value;
use crate::xla_flags;

/// Options for making a client.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    named: Vec<(String, Value)>,
    compile_cache: Option<CompileCache>,
}

impl ClientOptions {
    /// The plugin's defaults.
    pub fn new() -> ClientOptions {
        ClientOptions::default()
    }

    /// How many devices a CPU client has; the CPU plugins make 4 when not told.
    #[must_use]
    pub fn cpu_device_count(self, count: usize) -> ClientOptions {
        // More than an i64 counts is refused by the plugin as any absurd number.
        self.option("cpu_device_count", i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Keeps what is compiled in a folder, and loads it from there the next time, also in
    /// another process. Without this, no program is kept, unless the environment asks for it
    /// ([`CompileCache::from_env`]).
    #[must_use]
    pub fn compile_cache(mut self, cache: impl Into<CompileCache>) -> ClientOptions {
        self.compile_cache = Some(cache.into());
        self
    }

    /// Any option that the plugin knows by name, such as `allocator` or
    /// `memory_fraction` of the GPU plugins. A second value for a name replaces
    /// the first.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> ClientOptions {
        let name = name.into();
        self.named.retain(|(known, _)| *known != name);
        self.named.push((name, value.into()));
        self
    }
}

/// A client: devices, their memories, and everything made on them.
///
/// Cheap to clone; all clones are one client. Buffers, executables and events hold
/// it, so it lives as long as the last of them, and is destroyed when the last is
/// dropped; that waits for runs in flight. A process that ends without it, by
/// `std::process::exit` or with handles forgotten, should wait for its last results
/// first: plugins can crash when the process ends under a run.
///
/// ```
/// # fn main() -> xla::Result<()> {
/// let client = xla::Plugin::cpu()?.client()?;
/// for device in client.devices() {
///     println!("{device:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    session: Arc<Session>,
}

/// What all handles of a client share. The client itself is destroyed with it.
pub(crate) struct Session {
    compile_cache: Option<CompileCache>,
    /// Known where there is a compile cache.
    circumstances: OnceCell<Vec<u8>>,
    pub(crate) shapes: ShapeTable,
    pub(crate) order: LaunchOrder,
    pub(crate) account: Account,
    layout_habit: OnceCell<LayoutHabit>,
    pub(crate) devices: Vec<DeviceFacts>,
    pub(crate) memories: Vec<MemoryFacts>,
    addressable: Vec<usize>,
    platform_name: String,
    platform_version: String,
    process_index: i32,
    plugin: Plugin,
    /// The client's, at hand: each call asks for it.
    pub(crate) api: Api,
    /// Callbacks under way hold it too, the rest holds the session.
    pub(crate) raw: Arc<RawClient>,
}

impl Client {
    /// The CPU plugin of [`Plugin::cpu`] with its default options. The plugins make 4 devices then;
    /// [`ClientOptions::cpu_device_count`] says another number.
    ///
    /// # Errors
    /// As [`Plugin::cpu`] and [`Plugin::client_with`].
    pub fn cpu() -> Result<Client> {
        Plugin::cpu()?.client()
    }

    pub(crate) fn create(plugin: &Plugin, options: &ClientOptions) -> Result<Client> {
        xla_flags::check(plugin.path())?;
        check_options(options)?;
        let raw = RawClient::create(plugin.api(), &options.named)?;
        let devices = (0..raw.device_count())
            .map(|index| raw.device_facts(index))
            .collect::<Result<Vec<_>>>()?;
        let memories = (0..raw.memory_count())
            .map(|index| raw.memory_facts(index))
            .collect::<Result<Vec<_>>>()?;
        let compile_cache = options.compile_cache.clone();
        let client = Client {
            session: Arc::new(Session {
                compile_cache: compile_cache.or_else(CompileCache::from_env),
                circumstances: OnceCell::new(),
                shapes: ShapeTable::default(),
                order: LaunchOrder::default(),
                account: Account::new(devices.len()),
                layout_habit: OnceCell::new(),
                devices,
                memories,
                addressable: raw.addressable_devices()?,
                platform_name: raw.platform_name()?,
                platform_version: raw.platform_version()?,
                process_index: raw.process_index()?,
                plugin: plugin.clone(),
                api: raw.api(),
                raw: Arc::new(raw),
            }),
        };
        if client.compile_cache().is_some() {
            // The variables count as they were when the plugin read them.
            let known = compile_cache::circumstances(&client, &options.named);
            client.session.circumstances.get_or_init(|| known);
        }
        Ok(client)
    }

    pub(crate) fn from_session(session: &Arc<Session>) -> Client {
        Client {
            session: Arc::clone(session),
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The devices that compile options are held against.
    pub(crate) fn present(&self) -> Present {
        Present {
            client: Some(self.clone()),
            whose: "the client",
            ids: self.all_devices().iter().map(Device::id).collect(),
            remedy: "make a client with more devices (for CPU: `ClientOptions::cpu_device_count`)",
            checks_nothing: self.platform_name() == "tpu",
        }
    }

    /// The plugin that made the client.
    pub fn plugin(&self) -> &Plugin {
        &self.session.plugin
    }

    /// Where the client keeps what it compiles; `None` where it doesn't.
    pub fn compile_cache(&self) -> Option<&CompileCache> {
        self.session.compile_cache.as_ref()
    }

    /// The platform, such as `cpu`, `cuda`, `tpu` (`PJRT_Client_PlatformName`).
    pub fn platform_name(&self) -> &str {
        &self.session.platform_name
    }

    /// The platform's version, free text (`PJRT_Client_PlatformVersion`).
    pub fn platform_version(&self) -> &str {
        &self.session.platform_version
    }

    /// The index of this process among those that share the devices.
    pub fn process_index(&self) -> i32 {
        self.session.process_index
    }

    /// The devices that this process can use, in the client's order
    /// (`PJRT_Client_AddressableDevices`).
    pub fn devices(&self) -> Vec<Device> {
        let addressable = self.session.addressable.iter();
        addressable
            .map(|index| Device::new(&self.session, *index))
            .collect()
    }

    /// All devices, those of other processes included (`PJRT_Client_Devices`).
    pub fn all_devices(&self) -> Vec<Device> {
        let all = 0..self.session.devices.len();
        all.map(|index| Device::new(&self.session, index)).collect()
    }

    /// How many devices this process can use.
    pub fn device_count(&self) -> usize {
        self.session.addressable.len()
    }

    /// The `index`-th of [`Client::devices`].
    ///
    /// # Errors
    /// There are not that many.
    pub fn device(&self, index: usize) -> Result<Device> {
        match self.session.addressable.get(index) {
            Some(known) => Ok(Device::new(&self.session, *known)),
            None => Err(Error::new(
                Code::NotFound,
                format!(
                    "device {index} was asked for, but the client has {} (0 to {})",
                    self.device_count(),
                    self.device_count().saturating_sub(1)
                ),
            )),
        }
    }

    /// The addressable device with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn device_by_id(&self, id: i32) -> Result<Device> {
        let devices = self.devices();
        let ids: Vec<i32> = devices.iter().map(Device::id).collect();
        devices
            .into_iter()
            .find(|device| device.id() == id)
            .ok_or_else(|| {
                Error::new(
                    Code::NotFound,
                    format!("no device of this process has the id {id}; the ids are {ids:?}"),
                )
            })
    }

    /// The memories that this process can use (`PJRT_Client_AddressableMemories`).
    pub fn memories(&self) -> Vec<Memory> {
        let all = 0..self.session.memories.len();
        all.map(|index| Memory::new(&self.session, index)).collect()
    }

    /// Runs `work` with a scope in which buffers can be made of borrowed host memory that a
    /// CPU device shares instead of copying it (`kImmutableZeroCopy`), as
    /// [`std::thread::scope`] lends to threads. Returns when `work` has returned *and* XLA has
    /// finished with all that was lent, runs in flight included; also when `work` panics.
    ///
    /// ```
    /// use xla::{Client, CompileOptions, HostVec, Program};
    ///
    /// # fn main() -> xla::Result<()> {
    /// let client = Client::cpu()?;
    /// let device = client.device(0)?;
    /// let program = Program::from_text(
    ///     "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///        %y = stablehlo.add %x, %x : tensor<2xf32>
    ///        return %y : tensor<2xf32>
    ///      }",
    /// )?;
    /// let double = client.compile(&program, &CompileOptions::new())?;
    /// let values = HostVec::from_slice(&[1f32, 2.]);
    /// let doubled = client.scope(|scope| {
    ///     let x = scope.borrow(&device, &values, &[2])?;
    ///     double.run(x)?.into_single()
    /// })?;
    /// assert_eq!(doubled.to_host::<f32>()?, [2., 4.]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(
        &self,
        work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope::run(&self.session, work)
    }

    /// Compiles a program and loads it on the devices that `options` name
    /// (`PJRT_Client_Compile`). A client with a [`CompileCache`] looks there first.
    ///
    /// Not to be called by a thread that is ending, in a destructor of its local values: by then
    /// XLA's own may be gone, and older CPU plugins end the process.
    ///
    /// # Errors
    /// The program is not what its format says, or needs more devices than there
    /// are; an option is refused; the compiler fails. What would end the
    /// process inside the plugin, and can be seen, is refused before it is asked.
    pub fn compile(&self, program: &Program, options: &CompileOptions) -> Result<Executable> {
        Executable::compile(self, program, options)
    }

    /// The client's devices as a topology, to compile for them without loading
    /// (`PJRT_Client_TopologyDescription`). It holds the client.
    ///
    /// # Errors
    /// The plugin doesn't describe them.
    pub fn topology(&self) -> Result<Topology> {
        Topology::of_client(self)
    }

    /// Loads an executable that [`Executable::serialize`] or
    /// [`CompiledProgram::serialize`](crate::CompiledProgram::serialize) gave, on the devices it
    /// was compiled for (`PJRT_Executable_DeserializeAndLoad`). It takes, gives and donates
    /// what it did before.
    ///
    /// The plugin sees nothing that its header and checksums don't vouch for. They are against
    /// accidents only: the bytes hold machine code, so take them from where you would take a
    /// program.
    ///
    /// # Errors
    /// The bytes are no kept executable, are in another version of the format, end early or
    /// late, or are damaged; they come from another platform, plugin version, build or
    /// processor; the client lacks a device that they run on; what the plugin loads has not
    /// the signature that the header states. The message says which.
    pub fn deserialize(&self, serialized: &[u8]) -> Result<Executable> {
        Executable::deserialize(self, serialized)
    }
}

impl Drop for Session {
    /// The last handle is gone. What is released behind the user's back comes first, so that
    /// the client is destroyed here and the process may end.
    fn drop(&mut self) {
        self.raw.settle();
    }
}

impl Session {
    /// What the client's programs depend on beside themselves, for the keys of a compile cache.
    pub(crate) fn circumstances(&self) -> &[u8] {
        self.circumstances.get().map_or(&[], Vec::as_slice)
    }

    /// The platform, such as `cpu`.
    pub(crate) fn platform_name(&self) -> &str {
        &self.platform_name
    }

    /// What the plugin makes of uploads in unusual layouts; asked once, at `at`.
    pub(crate) fn layout_habit(self: &Arc<Self>, at: buffer::Place) -> Result<LayoutHabit> {
        let asked = self
            .layout_habit
            .get_or_try_init(|| upload::probe_layout_habit(self, at));
        asked.copied()
    }
}

/// Two clients are equal when they are one.
impl PartialEq for Client {
    fn eq(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.session, &other.session)
    }
}

impl Eq for Client {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("platform", &self.platform_name())
            .field("devices", &self.device_count())
            .field("plugin", self.plugin())
            .finish()
    }
}

/// Far more than anybody runs; each takes threads and memory. The plugins cut the number to 32 bits, or end the process
/// when they can't get the memory.
const MOST_CPU_DEVICES: i64 = 4_096;

/// Refuses the options with which a plugin ends the process instead of answering.
fn check_options(options: &ClientOptions) -> Result<()> {
    for (name, value) in &options.named {
        if name == "cpu_device_count" {
            match value.as_int() {
                Some(count) if (1..=MOST_CPU_DEVICES).contains(&count) => {}
                _ => {
                    return Err(Error::invalid(format!(
                        "client option `cpu_device_count`: wanted an integer from 1 to \
                         {MOST_CPU_DEVICES}, got {value:?}"
                    )))
                }
            }
        }
    }
    Ok(())
}
