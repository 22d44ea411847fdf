//! Topologies: devices described without being there, and compiling for them.

use std::ffi::c_char;
use std::ptr::NonNull;
use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Client_TopologyDescription_Args, PJRT_Compile_Args, PJRT_Executable,
    PJRT_TopologyDescription, PJRT_TopologyDescription_Attributes_Args,
    PJRT_TopologyDescription_Create_Args, PJRT_TopologyDescription_Deserialize_Args,
    PJRT_TopologyDescription_Fingerprint_Args, PJRT_TopologyDescription_GetDeviceDescriptions_Args,
    PJRT_TopologyDescription_PlatformName_Args, PJRT_TopologyDescription_PlatformVersion_Args,
    PJRT_TopologyDescription_Serialize_Args,
};

use super::api::Api;
use super::client::{chars, non_null, nothing_from};
use super::description::{self, Description};
use super::executable;
use super::owned::{Maker, Owned};
use super::{named_value, parts};
use crate::client::Session;
use crate::error::Result;
use crate::value::Value;

/// A topology, made or lent.
pub(crate) enum RawTopology {
    /// Ours to destroy.
    Made(Owned<PJRT_TopologyDescription, Api>),
    /// A client's, which destroys it.
    Lent(Lent),
}

/// A topology that belongs to a client, and so holds it.
pub(crate) struct Lent {
    raw: NonNull<PJRT_TopologyDescription>,
    session: Arc<Session>,
}

// SAFETY: a topology is a read-only description inside the client, which is held.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Maker for Arc<RawTopology> {
    fn api(&self) -> Api {
        RawTopology::api(self)
    }
}

impl RawTopology {
    /// Makes a topology by name and options (`PJRT_TopologyDescription_Create`).
    pub(crate) fn create(api: Api, name: &str, options: &[(String, Value)]) -> Result<RawTopology> {
        let named = named_value::write(options);
        let mut args = PJRT_TopologyDescription_Create_Args::zeroed();
        args.topology_name = chars(name.as_bytes());
        args.topology_name_size = name.len();
        args.create_options = named.as_ptr();
        args.num_options = named.len();
        // SAFETY: name and options outlive the call, which copies them; what it hands out is
        // owned before the status counts.
        let (status, topology) = unsafe {
            let status = api.call(entry::PJRT_TopologyDescription_Create, &mut args);
            (status, Owned::adopt(&api, args.topology))
        };
        status?;
        topology
            .map(RawTopology::Made)
            .ok_or_else(|| nothing_from("PJRT_TopologyDescription_Create"))
    }

    /// A client's own (`PJRT_Client_TopologyDescription`).
    pub(crate) fn of_client(session: &Arc<Session>) -> Result<RawTopology> {
        let mut args = PJRT_Client_TopologyDescription_Args::zeroed();
        args.client = session.raw.raw();
        // SAFETY: the client is alive. What it lends isn't owned.
        unsafe {
            let api = session.api;
            api.call(entry::PJRT_Client_TopologyDescription, &mut args)?;
        }
        let raw = NonNull::new(args.topology)
            .ok_or_else(|| nothing_from("PJRT_Client_TopologyDescription"))?;
        Ok(RawTopology::Lent(Lent {
            raw,
            session: Arc::clone(session),
        }))
    }

    /// Reads what `serialize` gave (`PJRT_TopologyDescription_Deserialize`).
    pub(crate) fn deserialize(api: Api, bytes: &[u8]) -> Result<RawTopology> {
        let mut args = PJRT_TopologyDescription_Deserialize_Args::zeroed();
        args.serialized_topology = chars(bytes);
        args.serialized_topology_size = bytes.len();
        // SAFETY: the bytes outlive the call; what it hands out is owned before the status
        // counts.
        let (status, topology) = unsafe {
            let status = api.call(entry::PJRT_TopologyDescription_Deserialize, &mut args);
            (status, Owned::adopt(&api, args.topology))
        };
        status?;
        topology
            .map(RawTopology::Made)
            .ok_or_else(|| nothing_from("PJRT_TopologyDescription_Deserialize"))
    }

    fn api(&self) -> Api {
        match self {
            RawTopology::Made(owned) => owned.api(),
            RawTopology::Lent(lent) => lent.session.api,
        }
    }

    fn raw(&self) -> *mut PJRT_TopologyDescription {
        match self {
            RawTopology::Made(owned) => owned.raw(),
            RawTopology::Lent(lent) => lent.raw.as_ptr(),
        }
    }

    /// The platform's name, such as `tpu`.
    pub(crate) fn platform_name(&self) -> Result<String> {
        let mut args = PJRT_TopologyDescription_PlatformName_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive; the text lives as long and is copied.
        unsafe {
            self.api()
                .call(entry::PJRT_TopologyDescription_PlatformName, &mut args)?;
            Ok(parts::text(args.platform_name, args.platform_name_size))
        }
    }

    /// The platform's version, free text.
    pub(crate) fn platform_version(&self) -> Result<String> {
        let mut args = PJRT_TopologyDescription_PlatformVersion_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive; the text lives as long and is copied.
        unsafe {
            let entry = entry::PJRT_TopologyDescription_PlatformVersion;
            self.api().call(entry, &mut args)?;
            let size = args.platform_version_size;
            Ok(parts::text(args.platform_version, size))
        }
    }

    /// What the plugin says of it.
    pub(crate) fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let mut args = PJRT_TopologyDescription_Attributes_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive; its attributes live as long and are copied.
        unsafe {
            self.api()
                .call(entry::PJRT_TopologyDescription_Attributes, &mut args)?;
            Ok(named_value::read(args.attributes, args.num_attributes))
        }
    }

    /// A number that is the same for equal topologies.
    pub(crate) fn fingerprint(&self) -> Result<u64> {
        let mut args = PJRT_TopologyDescription_Fingerprint_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive.
        unsafe {
            self.api()
                .call(entry::PJRT_TopologyDescription_Fingerprint, &mut args)?;
        }
        Ok(args.fingerprint)
    }

    /// What its devices say of themselves.
    pub(crate) fn devices(&self) -> Result<Vec<Description>> {
        let mut args = PJRT_TopologyDescription_GetDeviceDescriptions_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive; the list and the descriptions live as long.
        unsafe {
            let entry = entry::PJRT_TopologyDescription_GetDeviceDescriptions;
            self.api().call(entry, &mut args)?;
            non_null(args.descriptions, args.num_descriptions)
                .into_iter()
                .map(|raw| description::read(self.api(), raw.as_ptr()))
                .collect()
        }
    }

    /// The topology as bytes.
    pub(crate) fn serialize(&self) -> Result<Vec<u8>> {
        let mut args = PJRT_TopologyDescription_Serialize_Args::zeroed();
        args.topology = self.raw();
        // SAFETY: the topology is alive; the bytes belong to the holder that comes with its
        // deleter, are copied, and the holder is deleted once.
        unsafe {
            let entry = entry::PJRT_TopologyDescription_Serialize;
            let status = self.api().call(entry, &mut args);
            let start = args.serialized_bytes.cast::<u8>();
            let bytes = parts::slice(start, args.serialized_bytes_size).to_vec();
            if let Some(delete) = args.serialized_topology_deleter {
                if !args.serialized_topology.is_null() {
                    delete(args.serialized_topology);
                }
            }
            status.map(|()| bytes)
        }
    }
}

/// Compiles for devices that need not be there (`PJRT_Compile` without a client). `code` as
/// [`executable::compile`] wants it.
pub(crate) fn compile(
    topology: &Arc<RawTopology>,
    code: &[u8],
    format: &str,
    options: &[u8],
) -> Result<Owned<PJRT_Executable, Arc<RawTopology>>> {
    let program = executable::program(code, format)?;
    let mut args = PJRT_Compile_Args::zeroed();
    args.topology = topology.raw();
    args.program = &program;
    args.compile_options = options.as_ptr().cast::<c_char>();
    args.compile_options_size = options.len();
    // SAFETY: the topology is alive; program, with its NUL, and options outlive the call,
    // which only reads them; what it hands out is owned before the status counts.
    let (status, executable) = unsafe {
        let status = topology.api().call(entry::PJRT_Compile, &mut args);
        (status, Owned::adopt(topology, args.executable))
    };
    status?;
    executable.ok_or_else(|| nothing_from("PJRT_Compile"))
}
