//! Topologies: devices described without a client, and programs compiled for them.

use std::sync::Arc;

use pjrt_sys::{
    PJRT_Client_TopologyDescription_Args, PJRT_Compile_Args, PJRT_DeviceDescription,
    PJRT_SerializedTopology, PJRT_TopologyDescription, PJRT_TopologyDescription_Attributes_Args,
    PJRT_TopologyDescription_Create_Args, PJRT_TopologyDescription_Deserialize_Args,
    PJRT_TopologyDescription_Destroy_Args, PJRT_TopologyDescription_Fingerprint_Args,
    PJRT_TopologyDescription_GetDeviceDescriptions_Args,
    PJRT_TopologyDescription_PlatformName_Args, PJRT_TopologyDescription_PlatformVersion_Args,
    PJRT_TopologyDescription_Serialize_Args,
};

use crate::call::Call;
use crate::client::Client;
use crate::device::{Description, Device, Owner};
use crate::executable;
use crate::failure::{Answer, Failure};
use crate::registry::{Kind, Object};
use crate::slots;
use crate::table;
use crate::text::{list, Attributes, Handles, Text, Value};

/// What a `PJRT_TopologyDescription` stands for.
pub(crate) struct Topology {
    /// What it made counts as its own, or as its client's.
    id: u64,
    is_lent: bool,
    pub(crate) devices: Vec<Device>,
    descriptions: Handles<PJRT_DeviceDescription>,
    platform: Text,
    platform_version: Text,
    attributes: Attributes,
}

impl Object for Topology {
    type Raw = PJRT_TopologyDescription;
    const KIND: Kind = Kind::Topology;
}

/// What a `PJRT_SerializedTopology` stands for.
struct Serialized {
    /// What `serialized_bytes` leads to.
    _text: Text,
}

impl Object for Serialized {
    type Raw = PJRT_SerializedTopology;
    const KIND: Kind = Kind::SerializedTopology;
}

const MAGIC: &str = "pjrt_fake topology ";

/// Makes a topology of its own, or one that a client lends.
fn make(call: &Call, count: usize, client: Option<&Client>) -> *mut PJRT_TopologyDescription {
    let setup = &call.state().setup;
    let mut registry = call.state().registry.lock();
    let (handle, own) = registry.reserve::<Topology>(client.map(|client| client.id));
    let id = client.map_or(own, |client| client.id);
    let descriptions: Vec<_> = (0..count)
        .map(|_| registry.reserve::<Description>(Some(id)).0)
        .collect();
    let devices = descriptions.iter().enumerate();
    let devices = devices.map(|(index, description)| Device::new(index, 0, *description, &[]));
    let topology = Arc::new(Topology {
        id,
        is_lent: client.is_some(),
        devices: devices.collect(),
        descriptions: Handles::new(descriptions.iter().copied()),
        platform: Text::new(&setup.platform),
        platform_version: Text::new(&setup.platform_version),
        attributes: Attributes::new([("devices", Value::Int(count as i64))]),
    });
    for (index, description) in descriptions.into_iter().enumerate() {
        let owner = Owner::Topology(Arc::clone(&topology));
        registry.fill(description, Arc::new(Description { owner, index }));
    }
    registry.fill(handle, topology);
    if client.is_some() {
        registry.lend(handle);
    }
    drop(registry);
    call.note(|call| call.made.push(own));
    handle
}

/// `fake:4` has four devices.
pub(crate) fn create(call: &Call, args: &mut PJRT_TopologyDescription_Create_Args) -> Answer {
    // SAFETY: the name has its size beside it.
    let name = unsafe { list(args.topology_name.cast::<u8>(), args.topology_name_size) };
    let name = String::from_utf8_lossy(name);
    let count = name
        .strip_prefix("fake:")
        .and_then(|count| count.parse().ok())
        .filter(|count| (1..=1024).contains(count));
    let count = count.ok_or_else(|| Failure::invalid(format!("no topology: {name}")))?;
    args.topology = make(call, count, None);
    Ok(())
}

pub(crate) fn of_client(call: &Call, args: &mut PJRT_Client_TopologyDescription_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.topology = make(call, client.devices.len(), Some(&client));
    Ok(())
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_TopologyDescription_Destroy_Args) -> Answer {
    let topology = call.get::<Topology>(args.topology)?;
    if topology.is_lent {
        return Err(call.breach("it belongs to its client"));
    }
    call.destroy::<Topology>(args.topology)?;
    let alive = call.state().registry.lock().end_client(topology.id);
    if !alive.is_empty() {
        call.breach(format!(
            "it's destroyed before what was compiled for it: {}",
            alive.join(", ")
        ));
    }
    Ok(())
}

pub(crate) fn platform_name(
    call: &Call,
    args: &mut PJRT_TopologyDescription_PlatformName_Args,
) -> Answer {
    let platform = &call.get::<Topology>(args.topology)?.platform;
    (args.platform_name, args.platform_name_size) = (platform.start(), platform.size());
    Ok(())
}

pub(crate) fn platform_version(
    call: &Call,
    args: &mut PJRT_TopologyDescription_PlatformVersion_Args,
) -> Answer {
    let version = &call.get::<Topology>(args.topology)?.platform_version;
    (args.platform_version, args.platform_version_size) = (version.start(), version.size());
    Ok(())
}

pub(crate) fn devices(
    call: &Call,
    args: &mut PJRT_TopologyDescription_GetDeviceDescriptions_Args,
) -> Answer {
    let topology = call.get::<Topology>(args.topology)?;
    let descriptions = &topology.descriptions;
    (args.descriptions, args.num_descriptions) = (descriptions.as_ptr(), descriptions.len());
    Ok(())
}

pub(crate) fn attributes(
    call: &Call,
    args: &mut PJRT_TopologyDescription_Attributes_Args,
) -> Answer {
    let attributes = &call.get::<Topology>(args.topology)?.attributes;
    (args.attributes, args.num_attributes) = (attributes.start(), attributes.count());
    Ok(())
}

pub(crate) fn fingerprint(
    call: &Call,
    args: &mut PJRT_TopologyDescription_Fingerprint_Args,
) -> Answer {
    let topology = call.get::<Topology>(args.topology)?;
    args.fingerprint = 0xface_0000 + topology.devices.len() as u64;
    Ok(())
}

pub(crate) fn serialize(call: &Call, args: &mut PJRT_TopologyDescription_Serialize_Args) -> Answer {
    let topology = call.get::<Topology>(args.topology)?;
    let text = Text::new(format!("{MAGIC}{}", topology.devices.len()));
    args.serialized_bytes = text.start();
    args.serialized_bytes_size = text.size();
    args.serialized_topology = call.make(Serialized { _text: text }, topology.id);
    args.serialized_topology_deleter = Some(table::TOPOLOGY_DELETERS[call.state().slot]);
    Ok(())
}

/// What the deleter of a serialised topology does.
pub(crate) fn delete_serialized(slot: usize, serialized: *mut PJRT_SerializedTopology) {
    let state = slots::state(slot);
    let destroyed = state.registry.lock().destroy::<Serialized>(serialized);
    match destroyed {
        // The bytes that were lent go with it.
        Ok(serialized) => drop(serialized),
        Err(what) => state.violation(format!("the deleter of serialised topologies: {what}")),
    }
}

pub(crate) fn deserialize(
    call: &Call,
    args: &mut PJRT_TopologyDescription_Deserialize_Args,
) -> Answer {
    let start = args.serialized_topology.cast::<u8>();
    // SAFETY: the bytes have their number beside them.
    let bytes = unsafe { list(start, args.serialized_topology_size) };
    let count = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.strip_prefix(MAGIC)?.parse().ok());
    let count = count.ok_or_else(|| Failure::invalid("this is no serialised topology"))?;
    args.topology = make(call, count, None);
    Ok(())
}

pub(crate) fn compile(call: &Call, args: &mut PJRT_Compile_Args) -> Answer {
    let topology = call.get::<Topology>(args.topology)?;
    // SAFETY: the options have their size beside them.
    let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
    let compiled = executable::compile_for(call, topology.devices.len(), args.program, options)?;
    args.executable = executable::make(call, compiled, topology.id);
    Ok(())
}
