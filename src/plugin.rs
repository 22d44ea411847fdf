//! Plugins: found, loaded, described.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use pjrt_sys::PJRT_Extension_Type;

use crate::client::{Client, ClientOptions};
use crate::error::{Code, Result};
use crate::library_file::Build;
use crate::pjrt::{library, Api};
use crate::search::{PluginOrigin, PluginSearch};
use crate::topology::Topology;
use crate::topology_options::TopologyOptions;
use crate::value::Value;

/// A loaded PJRT plugin. Cheap to clone.
///
/// A library is loaded and initialised once a process and path, and never
/// unloaded.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
    /// Each value has its own: one file can be found in several ways.
    origin: Option<Arc<PluginOrigin>>,
}

/// An extension of the C API that a plugin offers, from [`Plugin::extensions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginExtension(PJRT_Extension_Type);

impl PluginExtension {
    /// The number of its kind (`PJRT_Extension_Type`).
    pub fn number(self) -> u32 {
        self.0 .0
    }

    /// What the header calls its kind, such as `Layouts`; `None` for a kind that is newer than
    /// the header which this crate knows.
    pub fn name(self) -> Option<&'static str> {
        self.0.name()
    }
}

/// The name, or the number where there is none.
impl fmt::Display for PluginExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.number()),
        }
    }
}

struct Inner {
    api: Api,
    path: Option<PathBuf>,
    build: Option<Build>,
    is_libtpu: bool,
    attributes: Vec<(String, Value)>,
}

/// A StableHLO version, such as 1.13.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StableHloVersion {
    /// Changes when artifacts become unreadable.
    pub major: u32,
    /// Changes when operations are added.
    pub minor: u32,
    /// Changes otherwise.
    pub patch: u32,
}

impl fmt::Display for StableHloVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Plugin {
    /// Loads the plugin at `path` (`GetPjrtApi`, `PJRT_Plugin_Initialize`).
    ///
    /// Loading runs the library's code: name only files that you trust.
    ///
    /// # Errors
    /// There is no such file; it is not a (whole) library for this machine; it
    /// exports no `GetPjrtApi`; it returns no table; its API is not 0.57 or later.
    pub fn load(path: impl AsRef<Path>) -> Result<Plugin> {
        let library = library::load(path.as_ref())?;
        Plugin::from_api(
            library.api,
            Some(library.path),
            library.build,
            library.is_libtpu,
        )
    }

    /// The CPU plugin, found by the search order below.
    ///
    /// First found wins: the variable `XLA_PJRT_CPU_PLUGIN`, then JAX's
    /// `PJRT_NAMES_AND_LIBRARY_PATHS`, the plugin that the feature `fetch-cpu`
    /// fetched, the cache folder, and the site-packages of the active Python.
    ///
    /// # Errors
    /// None is found: the message lists every place tried and the command that
    /// helps; or what is found can't be loaded, as [`Plugin::load`].
    pub fn cpu() -> Result<Plugin> {
        PluginSearch::cpu().load()
    }

    /// The CUDA plugin (`jax-cuda12-pjrt` or `jax-cuda13-pjrt`), found like
    /// [`Plugin::cpu`]; its variable is `XLA_PJRT_CUDA_PLUGIN`.
    ///
    /// The one that the feature `fetch-cuda` fetches is for compiling: it comes without the
    /// libraries that runs need, so a build with the feature that is to run on GPUs too sets the
    /// variable. A build without it never looks at what was fetched.
    ///
    /// # Errors
    /// As [`Plugin::cpu`].
    pub fn cuda() -> Result<Plugin> {
        PluginSearch::cuda().load()
    }

    /// The TPU plugin (`libtpu`), found like [`Plugin::cpu`]; its variables are
    /// `XLA_PJRT_TPU_PLUGIN` and `TPU_LIBRARY_PATH`.
    ///
    /// On a machine without a TPU, libtpu would ask a server that isn't there for ten minutes.
    /// So five variables of the environment (`TPU_SKIP_MDS_QUERY` and others) are set when it
    /// is loaded, here or by [`Plugin::load`]: those that aren't set yet, and none where
    /// `/dev/accel0` or `/dev/vfio` shows a TPU. They stay set, also for processes that are
    /// started later.
    ///
    /// # Errors
    /// As [`Plugin::cpu`].
    pub fn tpu() -> Result<Plugin> {
        PluginSearch::tpu().load()
    }

    /// The ROCm plugin (`jax-rocm7-pjrt`), found like [`Plugin::cpu`]; its
    /// variable is `XLA_PJRT_ROCM_PLUGIN`.
    ///
    /// # Errors
    /// As [`Plugin::cpu`].
    pub fn rocm() -> Result<Plugin> {
        PluginSearch::rocm().load()
    }

    pub(crate) fn from_api(
        api: Api,
        path: Option<PathBuf>,
        build: Option<Build>,
        is_libtpu: bool,
    ) -> Result<Plugin> {
        let attributes = match library::attributes(api) {
            Err(error) if error.code() == Code::Unimplemented => Vec::new(),
            other => other?,
        };
        Ok(Plugin {
            inner: Arc::new(Inner {
                api,
                path,
                build,
                is_libtpu,
                attributes,
            }),
            origin: None,
        })
    }

    /// Makes a client with default options.
    ///
    /// # Errors
    /// As [`Plugin::client_with`].
    pub fn client(&self) -> Result<Client> {
        self.client_with(&ClientOptions::new())
    }

    /// Makes a client (`PJRT_Client_Create`).
    ///
    /// # Errors
    /// The plugin refuses an option or finds no device; `XLA_FLAGS` is malformed or names a
    /// flag that this plugin doesn't know (the plugin would end the process). The *values* of
    /// flags can't be checked: a wrong one still ends the process.
    pub fn client_with(&self, options: &ClientOptions) -> Result<Client> {
        Client::create(self, options)
    }

    /// Describes devices that need not be there (`PJRT_TopologyDescription_Create`), so that
    /// programs can be compiled for them.
    ///
    /// # Errors
    /// The plugin refuses the name or an option, or has no topologies; what would end the
    /// process inside the plugin is refused before it is asked; `XLA_FLAGS` is refused as in
    /// [`Plugin::client_with`].
    pub fn topology(&self, options: &TopologyOptions) -> Result<Topology> {
        Topology::create(self, options)
    }

    /// The topology that [`Topology::serialize`] gave as bytes
    /// (`PJRT_TopologyDescription_Deserialize`).
    ///
    /// # Errors
    /// The bytes are not whole, or come from another plugin or version; the plugin is too
    /// old to read topologies.
    pub fn deserialize_topology(&self, bytes: &[u8]) -> Result<Topology> {
        Topology::deserialize(self, bytes)
    }

    /// The file that was loaded, by its canonical path; `None` for a plugin that came as
    /// a table.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// What led to the file; `None` for a plugin that was loaded by its path.
    pub fn origin(&self) -> Option<&PluginOrigin> {
        self.origin.as_deref()
    }

    pub(crate) fn by(mut self, origin: PluginOrigin) -> Plugin {
        self.origin = Some(Arc::new(origin));
        self
    }

    /// The extensions of the C API that the plugin offers, in its own order (the list that
    /// begins at `extension_start` of `PJRT_Api`). This crate uses none of them.
    pub fn extensions(&self) -> Vec<PluginExtension> {
        let kinds = self.inner.api.extensions().into_iter();
        kinds.map(PluginExtension).collect()
    }

    /// The version of the PJRT C API that the plugin implements, as (major, minor).
    pub fn api_version(&self) -> (i32, i32) {
        self.inner.api.version()
    }

    /// What the plugin says of itself (`PJRT_Plugin_Attributes`).
    pub fn attributes(&self) -> &[(String, Value)] {
        &self.inner.attributes
    }

    /// The StableHLO versions that the plugin reads as portable artifacts, from
    /// the oldest to its own; `None` where it doesn't say.
    pub fn stablehlo_versions(&self) -> Option<(StableHloVersion, StableHloVersion)> {
        Some((
            self.version_attribute("stablehlo_minimum_version")?,
            self.version_attribute("stablehlo_current_version")?,
        ))
    }

    fn version_attribute(&self, name: &str) -> Option<StableHloVersion> {
        let (_, value) = self.inner.attributes.iter().find(|(key, _)| key == name)?;
        match *value.as_ints()? {
            [major, minor, patch] => Some(StableHloVersion {
                major: u32::try_from(major).ok()?,
                minor: u32::try_from(minor).ok()?,
                patch: u32::try_from(patch).ok()?,
            }),
            _ => None,
        }
    }

    /// What tells the plugin's file from other builds.
    pub(crate) fn build(&self) -> Option<u64> {
        self.inner.build.map(|build| build.fingerprint)
    }

    /// When the plugin's file was last written, as of when it was loaded.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.inner.build.and_then(|build| build.modified)
    }

    /// Whether it is libtpu, which has ways of its own.
    pub(crate) fn is_libtpu(&self) -> bool {
        self.inner.is_libtpu
    }

    pub(crate) fn api(&self) -> Api {
        self.inner.api
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.api_version();
        f.debug_struct("Plugin")
            .field("api", &format_args!("{major}.{minor}"))
            .field("path", &self.inner.path)
            .finish()
    }
}
