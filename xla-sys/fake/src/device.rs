//! Devices and memories: what they say of themselves.

use std::sync::Arc;

use pjrt_sys::{
    PJRT_Device, PJRT_DeviceDescription, PJRT_DeviceDescription_Attributes_Args,
    PJRT_DeviceDescription_DebugString_Args, PJRT_DeviceDescription_Id_Args,
    PJRT_DeviceDescription_Kind_Args, PJRT_DeviceDescription_ProcessIndex_Args,
    PJRT_DeviceDescription_ToString_Args, PJRT_Device_AddressableMemories_Args,
    PJRT_Device_DefaultMemory_Args, PJRT_Device_GetDescription_Args,
    PJRT_Device_IsAddressable_Args, PJRT_Device_LocalHardwareId_Args, PJRT_Device_MemoryStats_Args,
    PJRT_Memory, PJRT_Memory_AddressableByDevices_Args, PJRT_Memory_DebugString_Args,
    PJRT_Memory_Id_Args, PJRT_Memory_Kind_Args, PJRT_Memory_ToString_Args,
};

use crate::call::Call;
use crate::client::{Client, DeviceHandle, MemoryHandle};
use crate::failure::{Answer, Failure};
use crate::registry::{Kind, Object};
use crate::text::{Attributes, Handles, Text, Value};
use crate::topology::Topology;

/// A device of a client.
pub(crate) struct Device {
    pub(crate) id: i32,
    process: i32,
    description: Handles<PJRT_DeviceDescription>,
    /// Its own memory first.
    memories: Handles<PJRT_Memory>,
    kind: Text,
    text: Text,
    attributes: Attributes,
}

impl Device {
    pub(crate) fn new(
        index: usize,
        process: i32,
        description: *mut PJRT_DeviceDescription,
        memories: &[*mut PJRT_Memory],
    ) -> Device {
        Device {
            id: index as i32,
            process,
            description: Handles::new([description]),
            memories: Handles::new(memories.iter().copied()),
            kind: Text::new("fake"),
            text: Text::new(format!("FakeDevice(id={index})")),
            attributes: Attributes::new([
                ("core", Value::Int(index as i64)),
                ("coords", Value::Ints(vec![index as i64, 0])),
                ("name", Value::Text("a device made of Rust")),
            ]),
        }
    }

    pub(crate) fn is_addressable(&self) -> bool {
        !self.memories.is_empty()
    }
}

/// A memory of a client.
pub(crate) struct Memory {
    id: i32,
    devices: Handles<PJRT_Device>,
    kind: Text,
    text: Text,
}

impl Memory {
    pub(crate) fn new(index: usize, kind: &str, devices: &[*mut PJRT_Device]) -> Memory {
        Memory {
            id: index as i32,
            devices: Handles::new(devices.iter().copied()),
            kind: Text::new(kind),
            text: Text::new(format!("FakeMemory(id={index}, {kind})")),
        }
    }
}

/// What a `PJRT_DeviceDescription` stands for.
pub(crate) struct Description {
    pub(crate) owner: Owner,
    pub(crate) index: usize,
}

/// What has the devices that are described.
pub(crate) enum Owner {
    Client(Arc<Client>),
    Topology(Arc<Topology>),
}

impl Object for Description {
    type Raw = PJRT_DeviceDescription;
    const KIND: Kind = Kind::Description;
}

impl Description {
    fn device(&self) -> &Device {
        match &self.owner {
            Owner::Client(client) => &client.devices[self.index],
            Owner::Topology(topology) => &topology.devices[self.index],
        }
    }
}

impl DeviceHandle {
    fn device(&self) -> &Device {
        &self.client.devices[self.index]
    }

    /// Refuses what only a device of this process can answer.
    fn own(&self) -> Result<&Device, Failure> {
        match self.device() {
            device if device.is_addressable() => Ok(device),
            _ => Err(Failure::invalid("the device belongs to another process")),
        }
    }
}

impl MemoryHandle {
    fn memory(&self) -> &Memory {
        &self.client.memories[self.index]
    }
}

pub(crate) fn description(call: &Call, args: &mut PJRT_Device_GetDescription_Args) -> Answer {
    let device = call.get::<DeviceHandle>(args.device)?;
    args.device_description = device.device().description[0];
    Ok(())
}

pub(crate) fn is_addressable(call: &Call, args: &mut PJRT_Device_IsAddressable_Args) -> Answer {
    let device = call.get::<DeviceHandle>(args.device)?;
    args.is_addressable = device.device().is_addressable();
    Ok(())
}

pub(crate) fn local_hardware_id(
    call: &Call,
    args: &mut PJRT_Device_LocalHardwareId_Args,
) -> Answer {
    args.local_hardware_id = call.get::<DeviceHandle>(args.device)?.own()?.id;
    Ok(())
}

pub(crate) fn memories(call: &Call, args: &mut PJRT_Device_AddressableMemories_Args) -> Answer {
    let device = call.get::<DeviceHandle>(args.device)?;
    let memories = &device.own()?.memories;
    (args.memories, args.num_memories) = (memories.as_ptr(), memories.len());
    Ok(())
}

pub(crate) fn default_memory(call: &Call, args: &mut PJRT_Device_DefaultMemory_Args) -> Answer {
    args.memory = call.get::<DeviceHandle>(args.device)?.own()?.memories[0];
    Ok(())
}

/// Some figures, with others left out.
pub(crate) fn memory_stats(call: &Call, args: &mut PJRT_Device_MemoryStats_Args) -> Answer {
    call.get::<DeviceHandle>(args.device)?.own()?;
    args.bytes_in_use = 4096;
    (args.peak_bytes_in_use, args.peak_bytes_in_use_is_set) = (8192, true);
    (args.bytes_limit, args.bytes_limit_is_set) = (1 << 30, true);
    args.num_allocs_is_set = false;
    Ok(())
}

pub(crate) fn id(call: &Call, args: &mut PJRT_DeviceDescription_Id_Args) -> Answer {
    args.id = call
        .get::<Description>(args.device_description)?
        .device()
        .id;
    Ok(())
}

pub(crate) fn process_index(
    call: &Call,
    args: &mut PJRT_DeviceDescription_ProcessIndex_Args,
) -> Answer {
    let description = call.get::<Description>(args.device_description)?;
    args.process_index = description.device().process;
    Ok(())
}

pub(crate) fn attributes(call: &Call, args: &mut PJRT_DeviceDescription_Attributes_Args) -> Answer {
    let description = call.get::<Description>(args.device_description)?;
    let attributes = &description.device().attributes;
    (args.attributes, args.num_attributes) = (attributes.start(), attributes.count());
    Ok(())
}

pub(crate) fn kind(call: &Call, args: &mut PJRT_DeviceDescription_Kind_Args) -> Answer {
    let description = call.get::<Description>(args.device_description)?;
    let kind = &description.device().kind;
    (args.device_kind, args.device_kind_size) = (kind.start(), kind.size());
    Ok(())
}

pub(crate) fn debug_string(
    call: &Call,
    args: &mut PJRT_DeviceDescription_DebugString_Args,
) -> Answer {
    let description = call.get::<Description>(args.device_description)?;
    let text = &description.device().text;
    (args.debug_string, args.debug_string_size) = (text.start(), text.size());
    Ok(())
}

pub(crate) fn to_string(call: &Call, args: &mut PJRT_DeviceDescription_ToString_Args) -> Answer {
    let description = call.get::<Description>(args.device_description)?;
    let text = &description.device().text;
    (args.to_string, args.to_string_size) = (text.start(), text.size());
    Ok(())
}

pub(crate) fn memory_id(call: &Call, args: &mut PJRT_Memory_Id_Args) -> Answer {
    args.id = call.get::<MemoryHandle>(args.memory)?.memory().id;
    Ok(())
}

pub(crate) fn memory_kind(call: &Call, args: &mut PJRT_Memory_Kind_Args) -> Answer {
    let memory = call.get::<MemoryHandle>(args.memory)?;
    let kind = &memory.memory().kind;
    (args.kind, args.kind_size) = (kind.start(), kind.size());
    Ok(())
}

pub(crate) fn memory_debug_string(call: &Call, args: &mut PJRT_Memory_DebugString_Args) -> Answer {
    let memory = call.get::<MemoryHandle>(args.memory)?;
    let text = &memory.memory().text;
    (args.debug_string, args.debug_string_size) = (text.start(), text.size());
    Ok(())
}

pub(crate) fn memory_to_string(call: &Call, args: &mut PJRT_Memory_ToString_Args) -> Answer {
    let memory = call.get::<MemoryHandle>(args.memory)?;
    let text = &memory.memory().text;
    (args.to_string, args.to_string_size) = (text.start(), text.size());
    Ok(())
}

pub(crate) fn memory_devices(
    call: &Call,
    args: &mut PJRT_Memory_AddressableByDevices_Args,
) -> Answer {
    let memory = call.get::<MemoryHandle>(args.memory)?;
    let devices = &memory.memory().devices;
    (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    Ok(())
}
