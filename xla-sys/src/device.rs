//! Devices and their descriptions.

use crate::*;
use core::ffi::{c_char, c_int};

structs! { "pjrt_c_api.h";
    /// Arguments of [`PJRT_DeviceDescription_Id`]; sets `id`.
    args PJRT_DeviceDescription_Id_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        id: c_int,
    }

    /// Arguments of [`PJRT_DeviceDescription_ProcessIndex`]; sets `process_index`.
    args PJRT_DeviceDescription_ProcessIndex_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        process_index: c_int,
    }

    /// Arguments of [`PJRT_DeviceDescription_Attributes`]; sets `num_attributes` and `attributes`.
    args PJRT_DeviceDescription_Attributes_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        num_attributes: usize,
        attributes: *const PJRT_NamedValue,
    }

    /// Arguments of [`PJRT_DeviceDescription_Kind`]; sets `device_kind` and `device_kind_size`.
    args PJRT_DeviceDescription_Kind_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        device_kind: *const c_char,
        device_kind_size: usize,
    }

    /// Arguments of [`PJRT_DeviceDescription_DebugString`]; sets `debug_string` and
    /// `debug_string_size`.
    args PJRT_DeviceDescription_DebugString_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        debug_string: *const c_char,
        debug_string_size: usize,
    }

    /// Arguments of [`PJRT_DeviceDescription_ToString`]; sets `to_string` and `to_string_size`.
    args PJRT_DeviceDescription_ToString_Args (54) {
        device_description: *mut PJRT_DeviceDescription,
        to_string: *const c_char,
        to_string_size: usize,
    }

    /// Arguments of [`PJRT_Device_GetDescription`]; sets `device_description`.
    args PJRT_Device_GetDescription_Args (54) {
        device: *mut PJRT_Device,
        device_description: *mut PJRT_DeviceDescription,
    }

    /// Arguments of [`PJRT_Device_IsAddressable`]; sets `is_addressable`.
    args PJRT_Device_IsAddressable_Args (54) {
        device: *mut PJRT_Device,
        is_addressable: bool,
    }

    /// Arguments of [`PJRT_Device_LocalHardwareId`]; sets `local_hardware_id`.
    args PJRT_Device_LocalHardwareId_Args (54) {
        device: *mut PJRT_Device,
        local_hardware_id: c_int,
    }

    /// Arguments of [`PJRT_Device_AddressableMemories`]; sets `memories` and `num_memories`.
    args PJRT_Device_AddressableMemories_Args (54) {
        device: *mut PJRT_Device,
        memories: *const *mut PJRT_Memory,
        num_memories: usize,
    }

    /// Arguments of [`PJRT_Device_DefaultMemory`]; sets `memory`.
    args PJRT_Device_DefaultMemory_Args (54) {
        device: *mut PJRT_Device,
        memory: *mut PJRT_Memory,
    }

    /// Arguments of [`PJRT_Device_MemoryStats`]; sets every field after the handle.
    args PJRT_Device_MemoryStats_Args (54) {
        device: *mut PJRT_Device,
        bytes_in_use: i64,
        peak_bytes_in_use: i64,
        peak_bytes_in_use_is_set: bool,
        num_allocs: i64,
        num_allocs_is_set: bool,
        largest_alloc_size: i64,
        largest_alloc_size_is_set: bool,
        bytes_limit: i64,
        bytes_limit_is_set: bool,
        bytes_reserved: i64,
        bytes_reserved_is_set: bool,
        peak_bytes_reserved: i64,
        peak_bytes_reserved_is_set: bool,
        bytes_reservable_limit: i64,
        bytes_reservable_limit_is_set: bool,
        largest_free_block_bytes: i64,
        largest_free_block_bytes_is_set: bool,
        pool_bytes: i64,
        pool_bytes_is_set: bool,
        peak_pool_bytes: i64,
        peak_pool_bytes_is_set: bool,
        #[since = 114]
        peak_allocated_bytes: i64,
        #[since = 114]
        peak_allocated_bytes_is_set: bool,
    }

    /// Arguments of [`PJRT_Device_ClearMemoryStats`].
    args PJRT_Device_ClearMemoryStats_Args (114) {
        device: *mut PJRT_Device,
    }

    /// Arguments of [`PJRT_Device_PoisonExecution`]; sets `poisoned`.
    args PJRT_Device_PoisonExecution_Args (90) {
        device: *mut PJRT_Device,
        launch_id: i32,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
        poisoned: bool,
        #[since = 114]
        payload: *const PJRT_NamedValue,
        #[since = 114]
        num_payload: usize,
    }

    /// Arguments of [`PJRT_Device_GetAttributes`]; sets `attributes`, `num_attributes`,
    /// `device_attributes` and `attributes_deleter`.
    args PJRT_Device_GetAttributes_Args (114) {
        device: *mut PJRT_Device,
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
        device_attributes: *mut PJRT_Device_Attributes,
        attributes_deleter: Option<unsafe extern "C" fn(*mut PJRT_Device_Attributes)>,
    }

    /// Arguments of [`PJRT_Device_CreateAsyncTrackingEvent`]; sets `event`.
    args PJRT_Device_CreateAsyncTrackingEvent_Args (90) {
        device: *mut PJRT_Device,
        description: *const c_char,
        description_size: usize,
        event: *mut PJRT_AsyncTrackingEvent,
    }
}
