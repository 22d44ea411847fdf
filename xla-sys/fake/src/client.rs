//! The plugin itself, and clients.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pjrt_sys::{
    PJRT_Client, PJRT_Client_AddressableDevices_Args, PJRT_Client_AddressableMemories_Args,
    PJRT_Client_Create_Args, PJRT_Client_DefaultDeviceAssignment_Args, PJRT_Client_Destroy_Args,
    PJRT_Client_Devices_Args, PJRT_Client_PlatformName_Args, PJRT_Client_PlatformVersion_Args,
    PJRT_Client_ProcessIndex_Args, PJRT_Device, PJRT_Memory, PJRT_NamedValue_Type,
    PJRT_Plugin_Attributes_Args, PJRT_Plugin_Initialize_Args,
};

use crate::call::Call;
use crate::device::{Description, Device, Memory, Owner};
use crate::event::in_callback;
use crate::failure::{Answer, Failure};
use crate::registry::{Kind, Object};
use crate::text::{list, Attributes, Handles, Text, Value};

/// What a `PJRT_Client` stands for, with its devices and memories.
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) devices: Vec<Device>,
    /// One a device of this process, in their order, and the host's at the end.
    pub(crate) memories: Vec<Memory>,
    pub(crate) device_handles: Handles<PJRT_Device>,
    pub(crate) memory_handles: Handles<PJRT_Memory>,
    addressable: Handles<PJRT_Device>,
    platform: Text,
    platform_version: Text,
    /// Copies to the host that aren't done.
    pub(crate) reads: AtomicUsize,
}

impl Object for Client {
    type Raw = PJRT_Client;
    const KIND: Kind = Kind::Client;
}

/// The process that the fake says it is.
const PROCESS: i32 = 0;

pub(crate) fn initialize(_: &Call, _: &mut PJRT_Plugin_Initialize_Args) -> Answer {
    Ok(())
}

pub(crate) fn plugin_attributes(_: &Call, args: &mut PJRT_Plugin_Attributes_Args) -> Answer {
    static ATTRIBUTES: OnceLock<Attributes> = OnceLock::new();
    let attributes = ATTRIBUTES.get_or_init(|| {
        Attributes::new([
            ("maker", Value::Text("pjrt_fake")),
            ("xla_version", Value::Int(2)),
            ("stablehlo_minimum_version", Value::Ints(vec![0, 9, 0])),
            ("stablehlo_current_version", Value::Ints(vec![1, 20, 0])),
            ("is_fake", Value::Bool(true)),
            ("share_of_truth", Value::Float(0.5)),
        ])
    });
    args.attributes = attributes.start();
    args.num_attributes = attributes.count();
    Ok(())
}

pub(crate) fn create(call: &Call, args: &mut PJRT_Client_Create_Args) -> Answer {
    let setup = &call.state().setup;
    let local = device_count(call, args)?.unwrap_or(setup.devices);
    let all = local + setup.remote_devices;
    let mut registry = call.state().registry.lock();
    let (handle, id) = registry.reserve::<Client>(None);
    let mut reserve_device = || registry.reserve::<DeviceHandle>(Some(id)).0;
    let device_handles: Vec<_> = (0..all).map(|_| reserve_device()).collect();
    let mut reserve_description = || registry.reserve::<Description>(Some(id)).0;
    let descriptions: Vec<_> = (0..all).map(|_| reserve_description()).collect();
    let mut reserve_memory = || registry.reserve::<MemoryHandle>(Some(id)).0;
    let memory_handles: Vec<_> = (0..local + 1).map(|_| reserve_memory()).collect();
    let host = memory_handles[local];

    let devices = (0..all).map(|index| {
        let reach: &[_] = if index < local {
            &[memory_handles[index], host]
        } else {
            &[]
        };
        let process = if index < local { PROCESS } else { PROCESS + 1 };
        Device::new(index, process, descriptions[index], reach)
    });
    let memories = (0..=local).map(|index| {
        if index < local {
            Memory::new(index, "device", &device_handles[index..=index])
        } else {
            Memory::new(index, "pinned_host", &device_handles[..local])
        }
    });
    let client = Arc::new(Client {
        id,
        devices: devices.collect(),
        memories: memories.collect(),
        addressable: Handles::new(device_handles[..local].iter().copied()),
        device_handles: Handles::new(device_handles.iter().copied()),
        memory_handles: Handles::new(memory_handles.iter().copied()),
        platform: Text::new(&setup.platform),
        platform_version: Text::new(&setup.platform_version),
        reads: AtomicUsize::new(0),
    });
    let part = |index: usize| (Arc::clone(&client), index);
    for (index, handle) in device_handles.iter().enumerate() {
        let (client, index) = part(index);
        registry.fill(*handle, Arc::new(DeviceHandle { client, index }));
        let (client, index) = part(index);
        let owner = Owner::Client(client);
        registry.fill(descriptions[index], Arc::new(Description { owner, index }));
    }
    for (index, handle) in memory_handles.iter().enumerate() {
        let (client, index) = part(index);
        registry.fill(*handle, Arc::new(MemoryHandle { client, index }));
    }
    registry.fill(handle, client);
    drop(registry);
    call.note(|call| call.made.push(id));
    args.client = handle;
    Ok(())
}

/// What a `PJRT_Device` stands for.
pub(crate) struct DeviceHandle {
    pub(crate) client: Arc<Client>,
    pub(crate) index: usize,
}

impl Object for DeviceHandle {
    type Raw = PJRT_Device;
    const KIND: Kind = Kind::Device;
}

/// What a `PJRT_Memory` stands for.
pub(crate) struct MemoryHandle {
    pub(crate) client: Arc<Client>,
    pub(crate) index: usize,
}

impl Object for MemoryHandle {
    type Raw = PJRT_Memory;
    const KIND: Kind = Kind::Memory;
}

/// The option `cpu_device_count`; others are ignored.
fn device_count(call: &Call, args: &PJRT_Client_Create_Args) -> Result<Option<usize>, Failure> {
    // SAFETY: the header asks for `num_options` values.
    let options = unsafe { list(args.create_options, args.num_options) };
    for option in options {
        // SAFETY: a name has its size beside it.
        let name = unsafe { list(option.name.cast::<u8>(), option.name_size) };
        if name != b"cpu_device_count" {
            continue;
        }
        if option.type_ != PJRT_NamedValue_Type::Int64 {
            return Err(Failure::invalid("cpu_device_count is no integer"));
        }
        // SAFETY: the type says which member holds.
        let count = unsafe { option.value.int64_value };
        return match usize::try_from(count) {
            Ok(count) if (1..=1024).contains(&count) => Ok(Some(count)),
            _ => Err(call.breach(format!("{count} devices are asked for"))),
        };
    }
    Ok(None)
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_Client_Destroy_Args) -> Answer {
    let client = call.destroy::<Client>(args.client)?;
    let alive = call.state().registry.lock().end_client(client.id);
    if !alive.is_empty() {
        call.breach(format!(
            "it's destroyed before what it made: {}",
            alive.join(", ")
        ));
    }
    if call.state().has_mappings(client.id) {
        call.breach("it's destroyed with host memory mapped");
    }
    if client.reads.load(Ordering::SeqCst) > 0 {
        call.breach("it's destroyed with a copy to the host under way: a real plugin may crash");
    }
    if in_callback() {
        call.breach("it's destroyed inside a callback: a real plugin hangs");
    }
    Ok(())
}

pub(crate) fn platform_name(call: &Call, args: &mut PJRT_Client_PlatformName_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.platform_name = client.platform.start();
    args.platform_name_size = client.platform.size();
    Ok(())
}

pub(crate) fn platform_version(call: &Call, args: &mut PJRT_Client_PlatformVersion_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.platform_version = client.platform_version.start();
    args.platform_version_size = client.platform_version.size();
    Ok(())
}

pub(crate) fn process_index(call: &Call, args: &mut PJRT_Client_ProcessIndex_Args) -> Answer {
    call.get::<Client>(args.client)?;
    args.process_index = PROCESS;
    Ok(())
}

pub(crate) fn devices(call: &Call, args: &mut PJRT_Client_Devices_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.devices = client.device_handles.as_ptr();
    args.num_devices = client.device_handles.len();
    Ok(())
}

pub(crate) fn addressable_devices(
    call: &Call,
    args: &mut PJRT_Client_AddressableDevices_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.addressable_devices = client.addressable.as_ptr();
    args.num_addressable_devices = client.addressable.len();
    Ok(())
}

pub(crate) fn addressable_memories(
    call: &Call,
    args: &mut PJRT_Client_AddressableMemories_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    args.addressable_memories = client.memory_handles.as_ptr();
    args.num_addressable_memories = client.memory_handles.len();
    Ok(())
}

pub(crate) fn default_device_assignment(
    call: &Call,
    args: &mut PJRT_Client_DefaultDeviceAssignment_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    let ids = default_assignment(
        client.devices.len(),
        args.num_replicas.into(),
        args.num_partitions.into(),
    )?;
    if args.default_assignment_size < ids.len() {
        return Err(Failure::invalid("there's no room for the assignment"));
    }
    for (index, id) in ids.iter().enumerate() {
        // SAFETY: the caller has room for `default_assignment_size` numbers.
        unsafe { args.default_assignment.add(index).write(*id as i32) };
    }
    Ok(())
}

/// As many of `present` devices, in order, as are needed.
pub(crate) fn default_assignment(
    present: usize,
    replicas: i64,
    partitions: i64,
) -> Result<Vec<i64>, Failure> {
    let needed = replicas.checked_mul(partitions).unwrap_or(i64::MAX);
    let present = present as i64;
    if replicas < 1 || partitions < 1 || needed > present {
        return Err(Failure::invalid(format!(
            "{replicas} replicas of {partitions} partitions don't fit {present} devices"
        )));
    }
    Ok((0..needed).collect())
}
