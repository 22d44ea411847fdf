//! The table: functions that know their fake, and tables that end early or have holes.

use std::mem::offset_of;

use parking_lot::Mutex;
use pjrt_sys::*;

use crate::call::{answer, answer_void};
use crate::executable::delete_serialized;
use crate::{
    buffer, client, device, error, event, executable, execute, topology, transfer, upload,
};

/// The functions of one slot, and the names of those that there are.
macro_rules! functions {
    (
        fallible { $($name:ident($args:ident) => $body:path;)* }
        void { $($void:ident($void_args:ident) => $void_body:path;)* }
    ) => {
        mod functions {
            #![allow(non_snake_case)]
            use super::*;
            $(
                pub(super) unsafe extern "C" fn $name<const SLOT: usize>(
                    args: *mut $args,
                ) -> *mut PJRT_Error {
                    // SAFETY: the caller keeps the header's contract.
                    unsafe { answer(SLOT, stringify!($name), args, $body) }
                }
            )*
            $(
                pub(super) unsafe extern "C" fn $void<const SLOT: usize>(args: *mut $void_args) {
                    // SAFETY: the caller keeps the header's contract.
                    unsafe { answer_void(SLOT, stringify!($void), args, $void_body) }
                }
            )*
        }

        fn whole<const SLOT: usize>() -> PJRT_Api {
            // SAFETY: every field is a number, a raw pointer, or a function that may be null.
            let mut api: PJRT_Api = unsafe { std::mem::zeroed() };
            $(api.$name = Some(functions::$name::<SLOT>);)*
            $(api.$void = Some(functions::$void::<SLOT>);)*
            api
        }

        /// The names of the entries that a fake's whole table has. The other slots are null.
        pub const ENTRIES: &[&str] = &[$(stringify!($void),)* $(stringify!($name)),*];
    };
}

functions! {
    fallible {
        PJRT_Error_GetCode(PJRT_Error_GetCode_Args) => error::code;
        PJRT_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args) => error::payloads;
        PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args) => client::initialize;
        PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args) => client::plugin_attributes;
        PJRT_Event_Destroy(PJRT_Event_Destroy_Args) => event::destroy;
        PJRT_Event_IsReady(PJRT_Event_IsReady_Args) => event::is_ready;
        PJRT_Event_Error(PJRT_Event_Error_Args) => event::error;
        PJRT_Event_Await(PJRT_Event_Await_Args) => event::wait;
        PJRT_Event_OnReady(PJRT_Event_OnReady_Args) => event::on_ready;
        PJRT_Client_Create(PJRT_Client_Create_Args) => client::create;
        PJRT_Client_Destroy(PJRT_Client_Destroy_Args) => client::destroy;
        PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args) => client::platform_name;
        PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args) => client::process_index;
        PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args) => client::platform_version;
        PJRT_Client_Devices(PJRT_Client_Devices_Args) => client::devices;
        PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args) => client::addressable_devices;
        PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args) => client::addressable_memories;
        PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args) => client::default_device_assignment;
        PJRT_Client_Compile(PJRT_Client_Compile_Args) => executable::compile;
        PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args) => upload::from_host;
        PJRT_Client_CreateBuffersForAsyncHostToDevice(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args) => transfer::create;
        PJRT_AsyncHostToDeviceTransferManager_Destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args) => transfer::destroy;
        PJRT_AsyncHostToDeviceTransferManager_TransferData(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args) => transfer::send;
        PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args) => transfer::retrieve;
        PJRT_AsyncHostToDeviceTransferManager_BufferCount(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args) => transfer::count;
        PJRT_AsyncHostToDeviceTransferManager_BufferSize(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args) => transfer::size;
        PJRT_AsyncHostToDeviceTransferManager_SetBufferError(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args) => transfer::set_error;
        PJRT_Client_DmaMap(PJRT_Client_DmaMap_Args) => transfer::map;
        PJRT_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args) => transfer::unmap;
        PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args) => upload::uninitialized;
        PJRT_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args) => upload::error;
        PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args) => device::id;
        PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args) => device::process_index;
        PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args) => device::attributes;
        PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args) => device::kind;
        PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args) => device::debug_string;
        PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args) => device::to_string;
        PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args) => device::description;
        PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args) => device::is_addressable;
        PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args) => device::local_hardware_id;
        PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args) => device::memories;
        PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args) => device::default_memory;
        PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args) => device::memory_stats;
        PJRT_Memory_Id(PJRT_Memory_Id_Args) => device::memory_id;
        PJRT_Memory_Kind(PJRT_Memory_Kind_Args) => device::memory_kind;
        PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args) => device::memory_debug_string;
        PJRT_Memory_ToString(PJRT_Memory_ToString_Args) => device::memory_to_string;
        PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args) => device::memory_devices;
        PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args) => topology::of_client;
        PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args) => topology::create;
        PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args) => topology::destroy;
        PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args) => topology::platform_name;
        PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args) => topology::platform_version;
        PJRT_TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args) => topology::devices;
        PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args) => topology::attributes;
        PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args) => topology::fingerprint;
        PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args) => topology::serialize;
        PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args) => topology::deserialize;
        PJRT_Compile(PJRT_Compile_Args) => topology::compile;
        PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args) => executable::destroy;
        PJRT_Executable_Name(PJRT_Executable_Name_Args) => executable::name;
        PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args) => executable::replicas;
        PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args) => executable::partitions;
        PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args) => executable::outputs;
        PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args) => executable::memory_stats;
        PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args) => executable::cost_analysis;
        PJRT_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args) => executable::code_size;
        PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args) => executable::optimized_program;
        PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args) => executable::fingerprint;
        PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args) => executable::serialize;
        PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args) => executable::deserialize;
        PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args) => executable::destroy_loaded;
        PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args) => executable::executable;
        PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args) => executable::addressable_devices;
        PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args) => executable::delete;
        PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args) => executable::is_deleted;
        PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args) => execute::execute;
        PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args) => buffer::destroy;
        PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args) => buffer::element_type;
        PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args) => buffer::dimensions;
        PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args) => buffer::layout;
        PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args) => buffer::on_device_size;
        PJRT_Buffer_Device(PJRT_Buffer_Device_Args) => buffer::device;
        PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args) => buffer::memory;
        PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args) => buffer::delete;
        PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args) => buffer::is_deleted;
        PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args) => buffer::to_device;
        PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args) => buffer::to_memory;
        PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args) => buffer::to_host;
        PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args) => buffer::raw_to_host;
        PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args) => buffer::is_on_cpu;
        PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args) => buffer::ready_event;
        PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args) => buffer::unsafe_pointer;
        PJRT_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args) => buffer::hold;
        PJRT_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args) => buffer::release;
        PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args) => buffer::opaque_pointer;
    }
    void {
        PJRT_Error_Destroy(PJRT_Error_Destroy_Args) => error::destroy;
        PJRT_Error_Message(PJRT_Error_Message_Args) => error::message;
    }
}

unsafe extern "C" fn serialized_deleter<const SLOT: usize>(
    serialized: *mut PJRT_SerializedExecutable,
) {
    delete_serialized(SLOT, serialized);
}

unsafe extern "C" fn topology_deleter<const SLOT: usize>(serialized: *mut PJRT_SerializedTopology) {
    topology::delete_serialized(SLOT, serialized);
}

macro_rules! slots {
    ($($slot:literal)*) => {
        /// How many fakes a process can have at once.
        pub(crate) const SLOTS: usize = [$($slot),*].len();
        static WHOLE: [fn() -> PJRT_Api; SLOTS] = [$(whole::<$slot>),*];
        pub(crate) static SERIALIZED_DELETERS:
            [unsafe extern "C" fn(*mut PJRT_SerializedExecutable); SLOTS] =
            [$(serialized_deleter::<$slot>),*];
        pub(crate) static TOPOLOGY_DELETERS:
            [unsafe extern "C" fn(*mut PJRT_SerializedTopology); SLOTS] =
            [$(topology_deleter::<$slot>),*];
    };
}

slots! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

/// What a table is to look like, for [`Fake::table_of`](crate::Fake::table_of).
///
/// ```
/// use pjrt_fake::{Fake, Table};
///
/// let fake = Fake::new();
/// let old = fake.table_of(&Table::new().minor(68).without("PJRT_Event_OnReady"));
/// # let _ = old;
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    version: (i32, i32),
    struct_size: usize,
    without: Vec<&'static str>,
}

impl Default for Table {
    fn default() -> Table {
        Table::new()
    }
}

impl Table {
    /// The whole table, of the newest API that `pjrt_sys` knows.
    pub fn new() -> Table {
        Table {
            version: (API_MAJOR, API_MINOR),
            struct_size: PJRT_API_SIZE,
            without: Vec::new(),
        }
    }

    /// The table as API 0.`minor` has it: the version, and the slots that were there.
    #[must_use]
    pub fn minor(mut self, minor: i32) -> Table {
        self.version = (API_MAJOR, minor);
        let wanted = u32::try_from(minor).unwrap_or(0);
        let table = layout::structs().find(|known| known.name == "PJRT_Api");
        self.struct_size = table.map_or(PJRT_API_SIZE, |table| table.struct_size_at(wanted));
        self
    }

    /// The version alone.
    #[must_use]
    pub fn version(mut self, major: i32, minor: i32) -> Table {
        self.version = (major, minor);
        self
    }

    /// Where the table ends. There's no memory behind it.
    #[must_use]
    pub fn struct_size(mut self, size: usize) -> Table {
        self.struct_size = size.min(PJRT_API_SIZE);
        self
    }

    /// The table ends before the slot of this entry.
    ///
    /// # Panics
    /// There is no such entry.
    #[must_use]
    pub fn ending_before(self, entry: &str) -> Table {
        let offset = slot_of(entry).1;
        self.struct_size(offset)
    }

    /// The slot of this entry is null.
    ///
    /// # Panics
    /// There is no such entry.
    #[must_use]
    pub fn without(mut self, entry: &str) -> Table {
        self.without.push(slot_of(entry).0);
        self
    }

    /// Makes the table, which stays as long as the process.
    pub(crate) fn leak(&self, slot: usize) -> *const PJRT_Api {
        const WORD: usize = size_of::<usize>();
        let mut api = WHOLE[slot]();
        api.struct_size = self.struct_size;
        let mut version = PJRT_Api_Version::zeroed();
        (version.major_version, version.minor_version) = self.version;
        api.pjrt_api_version = version;
        let words = self.struct_size.div_ceil(WORD).max(1);
        // Words that may be pointers, of which just as many are copied as the table has.
        let table: &'static mut [*const ()] = vec![std::ptr::null(); words].leak();
        let start: *mut *const () = table.as_mut_ptr();
        // SAFETY: the table is made of whole words, and `words` don't exceed it.
        unsafe { start.copy_from_nonoverlapping((&raw const api).cast(), words) };
        for name in &self.without {
            let at = slot_of(name).1 / WORD;
            if at < words {
                // SAFETY: inside the copy.
                unsafe { start.add(at).write(std::ptr::null()) };
            }
        }
        KEPT.lock().push(Kept(start));
        start.cast_const().cast()
    }
}

const PJRT_API_SIZE: usize = size_of::<PJRT_Api>();
const _: () = assert!(offset_of!(PJRT_Api, PJRT_Error_Destroy) % size_of::<usize>() == 0);

/// All tables, so that none counts as lost.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept(#[allow(dead_code)] *mut *const ());

// SAFETY: never followed.
unsafe impl Send for Kept {}

/// A slot by its name: the name and the offset.
///
/// # Panics
/// There is no such entry.
pub(crate) fn slot_of(entry: &str) -> (&'static str, usize) {
    let mut all = pjrt_sys::ENTRIES.iter();
    match all.find(|(name, _, _)| *name == entry) {
        Some((name, offset, _)) => (name, *offset),
        None => panic!("there is no entry `{entry}` in the table"),
    }
}
