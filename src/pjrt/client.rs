//! The client and the devices and memories that belong to it.
//!
//! Devices and memories are borrowed from the client, never destroyed. They are
//! kept here and named by their index elsewhere, so that no pointer to one can
//! outlive its client.

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pjrt_sys::{
    entry, Args, PJRT_Client, PJRT_Client_AddressableDevices_Args,
    PJRT_Client_AddressableMemories_Args, PJRT_Client_Create_Args,
    PJRT_Client_DefaultDeviceAssignment_Args, PJRT_Client_Destroy_Args, PJRT_Client_Devices_Args,
    PJRT_Client_PlatformName_Args, PJRT_Client_PlatformVersion_Args, PJRT_Client_ProcessIndex_Args,
    PJRT_Device, PJRT_DeviceDescription, PJRT_Device_AddressableMemories_Args,
    PJRT_Device_DefaultMemory_Args, PJRT_Device_GetDescription_Args,
    PJRT_Device_IsAddressable_Args, PJRT_Device_LocalHardwareId_Args, PJRT_Device_MemoryStats_Args,
    PJRT_Event, PJRT_Memory, PJRT_Memory_AddressableByDevices_Args, PJRT_Memory_DebugString_Args,
    PJRT_Memory_Id_Args, PJRT_Memory_Kind_Args,
};

use super::api::Api;
use super::completion::{Completion, Pending};
use super::owned::Owned;
use super::reaper;
use super::release::Releases;
use super::{description, named_value, parts};
use crate::error::{Code, Error, Result};
use crate::value::Value;

/// A PJRT client; destroyed when dropped. `crate::client::Session` owns it, and
/// everything made by it holds that session.
pub(crate) struct RawClient {
    raw: NonNull<PJRT_Client>,
    api: Api,
    devices: Vec<NonNull<PJRT_Device>>,
    memories: Vec<NonNull<PJRT_Memory>>,
    /// The collective launch in flight.
    collective: Mutex<Option<Completion>>,
    /// The other launches, while there are programs with collectives.
    others: Pending,
    /// Host memory that is released when an event fires.
    releases: Releases,
}

// SAFETY: XLA's clients are thread-safe (the header asks it of every plugin), and
// devices and memories are read-only descriptions inside them.
unsafe impl Send for RawClient {}
// SAFETY: as above.
unsafe impl Sync for RawClient {}

impl Drop for RawClient {
    fn drop(&mut self) {
        // Events go before their client.
        *self.collective.get_mut() = None;
        self.others.clear();
        let mut args = PJRT_Client_Destroy_Args::zeroed();
        args.client = self.raw.as_ptr();
        // SAFETY: the only owner's last use. Everything the client made holds the
        // session and so is gone, pending transfers included (fact 17).
        let _ = unsafe { self.api.call(entry::PJRT_Client_Destroy, &mut args) };
    }
}

/// What a device says of itself.
pub(crate) struct DeviceFacts {
    pub(crate) id: i32,
    pub(crate) process_index: i32,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) addressable: bool,
    pub(crate) local_hardware_id: Option<i32>,
    pub(crate) attributes: Vec<(String, Value)>,
    pub(crate) memories: Vec<usize>,
    pub(crate) default_memory: Option<usize>,
}

/// What a memory says of itself.
pub(crate) struct MemoryFacts {
    pub(crate) id: i32,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) devices: Vec<usize>,
}

/// Figures of a device's allocator, in bytes where they measure memory; those a
/// plugin doesn't keep are `None`.
pub(crate) struct AllocatorFigures {
    pub(crate) bytes_in_use: i64,
    pub(crate) peak_bytes_in_use: Option<i64>,
    pub(crate) num_allocs: Option<i64>,
    pub(crate) largest_alloc_size: Option<i64>,
    pub(crate) bytes_limit: Option<i64>,
    pub(crate) bytes_reserved: Option<i64>,
    pub(crate) peak_bytes_reserved: Option<i64>,
    pub(crate) bytes_reservable_limit: Option<i64>,
    pub(crate) largest_free_block_bytes: Option<i64>,
    pub(crate) pool_bytes: Option<i64>,
    pub(crate) peak_pool_bytes: Option<i64>,
}

/// How long the last handle waits for callbacks. A plugin that never calls back must not
/// hang whoever drops it.
const PATIENCE: Duration = Duration::from_secs(10);

impl RawClient {
    /// Waits until no callback holds the client any more or is to release memory, so that the
    /// caller is its last holder. On the reaper's own thread there is nothing to wait for: there
    /// the last callback destroys the client.
    pub(crate) fn settle(self: &Arc<Self>) {
        reaper::wait_until(PATIENCE, || {
            self.releases.are_over() && Arc::strong_count(self) == 1
        });
        self.releases.leave_to_last(self);
    }

    pub(super) fn releases(&self) -> &Releases {
        &self.releases
    }

    /// Makes a client (`PJRT_Client_Create`).
    pub(crate) fn create(api: Api, options: &[(String, Value)]) -> Result<RawClient> {
        let named = named_value::write(options);
        let mut args = PJRT_Client_Create_Args::zeroed();
        args.create_options = named.as_ptr();
        args.num_options = named.len();
        // SAFETY: the options outlive the call, which copies them; no callbacks.
        let status = unsafe { api.call(entry::PJRT_Client_Create, &mut args) };
        let client = NonNull::new(args.client).map(|raw| RawClient {
            raw,
            api,
            devices: Vec::new(),
            memories: Vec::new(),
            collective: Mutex::new(None),
            others: Pending::new(api),
            releases: Releases::default(),
        });
        status?;
        let mut client = client.ok_or_else(|| nothing_from("PJRT_Client_Create"))?;
        client.list()?;
        Ok(client)
    }

    pub(crate) fn api(&self) -> Api {
        self.api
    }

    pub(super) fn raw(&self) -> *mut PJRT_Client {
        self.raw.as_ptr()
    }

    pub(super) fn device(&self, index: usize) -> *mut PJRT_Device {
        self.devices[index].as_ptr()
    }

    pub(super) fn memory(&self, index: usize) -> *mut PJRT_Memory {
        self.memories[index].as_ptr()
    }

    /// The index of a device that the plugin named by pointer.
    pub(super) fn device_index(&self, raw: *mut PJRT_Device) -> Option<usize> {
        self.devices.iter().position(|known| known.as_ptr() == raw)
    }

    /// The index of a memory that the plugin named by pointer.
    pub(super) fn memory_index(&self, raw: *mut PJRT_Memory) -> Option<usize> {
        self.memories.iter().position(|known| known.as_ptr() == raw)
    }

    pub(crate) fn device_count(&self) -> usize {
        self.devices.len()
    }

    pub(crate) fn memory_count(&self) -> usize {
        self.memories.len()
    }

    /// Keeps the events of a collective launch, in place of an earlier one's.
    pub(crate) fn keep_collective(&self, events: impl IntoIterator<Item = Owned<PJRT_Event>>) {
        *self.collective.lock() = Some(Completion::new(self.api, events));
    }

    /// Blocks until the kept launch is done on all its devices; its outcome. `None`
    /// when none is kept.
    pub(crate) fn finish_collective(&self) -> Option<Result<()>> {
        let completion = self.collective.lock().take()?;
        Some(completion.wait())
    }

    /// Keeps the events of other launches until they have fired.
    pub(crate) fn keep_others(&self, events: impl IntoIterator<Item = Owned<PJRT_Event>>) {
        self.others.keep(events);
    }

    /// Blocks until the other launches that are kept now are done, however they end.
    pub(crate) fn finish_others(&self) {
        self.others.wait();
    }

    fn list(&mut self) -> Result<()> {
        let mut args = PJRT_Client_Devices_Args::zeroed();
        args.client = self.raw();
        // SAFETY: the client is alive; its list of devices lives as long.
        self.devices = unsafe {
            self.api.call(entry::PJRT_Client_Devices, &mut args)?;
            non_null(args.devices, args.num_devices)
        };
        let mut args = PJRT_Client_AddressableMemories_Args::zeroed();
        args.client = self.raw();
        // SAFETY: as above.
        let memories = unsafe {
            self.api
                .call(entry::PJRT_Client_AddressableMemories, &mut args)
                .map(|()| non_null(args.addressable_memories, args.num_addressable_memories))
        };
        self.memories = absent_is_default(memories)?;
        Ok(())
    }

    /// The indices of the devices that this process can use, in the client's order.
    pub(crate) fn addressable_devices(&self) -> Result<Vec<usize>> {
        let mut args = PJRT_Client_AddressableDevices_Args::zeroed();
        args.client = self.raw();
        // SAFETY: the client is alive; its list lives as long.
        let devices = unsafe {
            self.api
                .call(entry::PJRT_Client_AddressableDevices, &mut args)?;
            parts::slice(args.addressable_devices, args.num_addressable_devices)
        };
        Ok(devices
            .iter()
            .filter_map(|raw| self.device_index(*raw))
            .collect())
    }

    /// The platform's name, such as `cpu`, `cuda`, `tpu`.
    pub(crate) fn platform_name(&self) -> Result<String> {
        let mut args = PJRT_Client_PlatformName_Args::zeroed();
        args.client = self.raw();
        // SAFETY: the client is alive; the text lives as long and is copied.
        unsafe {
            self.api.call(entry::PJRT_Client_PlatformName, &mut args)?;
            Ok(parts::text(args.platform_name, args.platform_name_size))
        }
    }

    /// The platform's version, free text.
    pub(crate) fn platform_version(&self) -> Result<String> {
        let mut args = PJRT_Client_PlatformVersion_Args::zeroed();
        args.client = self.raw();
        // SAFETY: the client is alive; the text lives as long and is copied.
        unsafe {
            self.api
                .call(entry::PJRT_Client_PlatformVersion, &mut args)?;
            Ok(parts::text(
                args.platform_version,
                args.platform_version_size,
            ))
        }
    }

    /// The index of this process among those that share the client's devices.
    pub(crate) fn process_index(&self) -> Result<i32> {
        let mut args = PJRT_Client_ProcessIndex_Args::zeroed();
        args.client = self.raw();
        // SAFETY: the client is alive.
        unsafe { self.api.call(entry::PJRT_Client_ProcessIndex, &mut args)? };
        Ok(args.process_index)
    }

    /// The device ids that the plugin would choose, replica by replica, each
    /// with its partitions in order.
    pub(crate) fn default_assignment(&self, replicas: i32, partitions: i32) -> Result<Vec<i32>> {
        let length =
            usize::try_from(replicas).unwrap_or(0) * usize::try_from(partitions).unwrap_or(0);
        let mut ids: Vec<c_int> = vec![0; length];
        let mut args = PJRT_Client_DefaultDeviceAssignment_Args::zeroed();
        args.client = self.raw();
        args.num_replicas = replicas;
        args.num_partitions = partitions;
        args.default_assignment_size = ids.len();
        args.default_assignment = ids.as_mut_ptr();
        // SAFETY: the plugin writes at most `default_assignment_size` numbers.
        unsafe {
            self.api
                .call(entry::PJRT_Client_DefaultDeviceAssignment, &mut args)?
        };
        Ok(ids)
    }

    /// What device `index` says of itself.
    pub(crate) fn device_facts(&self, index: usize) -> Result<DeviceFacts> {
        let device = self.device(index);
        let description = self.description(device)?;
        // SAFETY: the description is the client's and lives as long.
        let about = unsafe { description::read(self.api, description)? };
        let mut addressable = PJRT_Device_IsAddressable_Args::zeroed();
        addressable.device = device;
        // SAFETY: the device is the client's and lives as long.
        unsafe {
            self.api
                .call(entry::PJRT_Device_IsAddressable, &mut addressable)?;
        }
        let mut facts = DeviceFacts {
            id: about.id,
            process_index: about.process_index,
            kind: about.kind,
            description: about.text,
            addressable: addressable.is_addressable,
            local_hardware_id: None,
            attributes: about.attributes,
            memories: Vec::new(),
            default_memory: None,
        };
        if facts.addressable {
            facts.local_hardware_id = absent_is_default(self.local_hardware_id(device).map(Some))?;
            facts.memories = absent_is_default(self.device_memories(device))?;
            facts.default_memory = absent_is_default(self.default_memory(device))?;
        }
        Ok(facts)
    }

    fn description(&self, device: *mut PJRT_Device) -> Result<*mut PJRT_DeviceDescription> {
        let mut args = PJRT_Device_GetDescription_Args::zeroed();
        args.device = device;
        // SAFETY: the device is the client's.
        unsafe {
            self.api
                .call(entry::PJRT_Device_GetDescription, &mut args)?
        };
        if args.device_description.is_null() {
            return Err(nothing_from("PJRT_Device_GetDescription"));
        }
        Ok(args.device_description)
    }

    fn local_hardware_id(&self, device: *mut PJRT_Device) -> Result<i32> {
        let mut args = PJRT_Device_LocalHardwareId_Args::zeroed();
        args.device = device;
        // SAFETY: the device is the client's.
        unsafe {
            self.api
                .call(entry::PJRT_Device_LocalHardwareId, &mut args)?
        };
        Ok(args.local_hardware_id)
    }

    fn device_memories(&self, device: *mut PJRT_Device) -> Result<Vec<usize>> {
        let mut args = PJRT_Device_AddressableMemories_Args::zeroed();
        args.device = device;
        // SAFETY: the device is the client's; its list lives as long.
        let memories = unsafe {
            self.api
                .call(entry::PJRT_Device_AddressableMemories, &mut args)?;
            parts::slice(args.memories, args.num_memories)
        };
        Ok(memories
            .iter()
            .filter_map(|raw| self.memory_index(*raw))
            .collect())
    }

    fn default_memory(&self, device: *mut PJRT_Device) -> Result<Option<usize>> {
        let mut args = PJRT_Device_DefaultMemory_Args::zeroed();
        args.device = device;
        // SAFETY: the device is the client's.
        unsafe { self.api.call(entry::PJRT_Device_DefaultMemory, &mut args)? };
        Ok(self.memory_index(args.memory))
    }

    /// What memory `index` says of itself.
    pub(crate) fn memory_facts(&self, index: usize) -> Result<MemoryFacts> {
        let memory = self.memory(index);
        let mut id = PJRT_Memory_Id_Args::zeroed();
        id.memory = memory;
        let mut kind = PJRT_Memory_Kind_Args::zeroed();
        kind.memory = memory;
        let mut text = PJRT_Memory_DebugString_Args::zeroed();
        text.memory = memory;
        let mut devices = PJRT_Memory_AddressableByDevices_Args::zeroed();
        devices.memory = memory;
        // SAFETY: the memory is the client's; texts are copied, the list lives as
        // long as the client.
        unsafe {
            self.api.call(entry::PJRT_Memory_Id, &mut id)?;
            self.api.call(entry::PJRT_Memory_Kind, &mut kind)?;
            self.api.call(entry::PJRT_Memory_DebugString, &mut text)?;
            self.api
                .call(entry::PJRT_Memory_AddressableByDevices, &mut devices)?;
            Ok(MemoryFacts {
                id: id.id,
                kind: parts::text(kind.kind, kind.kind_size),
                description: parts::text(text.debug_string, text.debug_string_size),
                devices: parts::slice(devices.devices, devices.num_devices)
                    .iter()
                    .filter_map(|raw| self.device_index(*raw))
                    .collect(),
            })
        }
    }

    /// The allocator's figures for device `index`.
    pub(crate) fn allocator_figures(&self, index: usize) -> Result<AllocatorFigures> {
        let mut args = PJRT_Device_MemoryStats_Args::zeroed();
        args.device = self.device(index);
        // SAFETY: the device is the client's.
        unsafe { self.api.call(entry::PJRT_Device_MemoryStats, &mut args)? };
        let kept = |set: bool, value: i64| set.then_some(value);
        Ok(AllocatorFigures {
            bytes_in_use: args.bytes_in_use,
            peak_bytes_in_use: kept(args.peak_bytes_in_use_is_set, args.peak_bytes_in_use),
            num_allocs: kept(args.num_allocs_is_set, args.num_allocs),
            largest_alloc_size: kept(args.largest_alloc_size_is_set, args.largest_alloc_size),
            bytes_limit: kept(args.bytes_limit_is_set, args.bytes_limit),
            bytes_reserved: kept(args.bytes_reserved_is_set, args.bytes_reserved),
            peak_bytes_reserved: kept(args.peak_bytes_reserved_is_set, args.peak_bytes_reserved),
            bytes_reservable_limit: kept(
                args.bytes_reservable_limit_is_set,
                args.bytes_reservable_limit,
            ),
            largest_free_block_bytes: kept(
                args.largest_free_block_bytes_is_set,
                args.largest_free_block_bytes,
            ),
            pool_bytes: kept(args.pool_bytes_is_set, args.pool_bytes),
            peak_pool_bytes: kept(args.peak_pool_bytes_is_set, args.peak_pool_bytes),
        })
    }
}

/// The non-null pointers of a list that the plugin owns.
///
/// # Safety
/// A non-null `start` points to `count` pointers.
pub(super) unsafe fn non_null<T>(start: *const *mut T, count: usize) -> Vec<NonNull<T>> {
    // SAFETY: the caller's promise.
    let list = unsafe { parts::slice(start, count) };
    list.iter().filter_map(|raw| NonNull::new(*raw)).collect()
}

/// A fact that a plugin may not offer is empty rather than a failure.
pub(super) fn absent_is_default<T: Default>(answer: Result<T>) -> Result<T> {
    match answer {
        Err(error) if error.code() == Code::Unimplemented => Ok(T::default()),
        other => other,
    }
}

/// A plugin broke the contract: no error, and no handle either.
pub(super) fn nothing_from(function: &'static str) -> Error {
    Error::from_plugin(
        function,
        Code::Internal,
        "the plugin reported success but handed out nothing".to_owned(),
        Vec::new(),
    )
}

/// A `c_char` view of bytes for an argument that only reads them.
pub(super) fn chars(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}
