//! Clients, and the key-value store that several processes meet in.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Frees a value that a lookup returned.
pub type PJRT_KeyValueGetCallback_ValueDeleter = Option<unsafe extern "C" fn(*mut c_char)>;

/// Looks a key up in the caller's store, and waits for it.
pub type PJRT_KeyValueGetCallback =
    Option<unsafe extern "C" fn(*mut PJRT_KeyValueGetCallback_Args) -> *mut PJRT_Error>;

/// Frees a value that an immediate lookup returned.
pub type PJRT_KeyValueTryGetCallback_ValueDeleter = Option<unsafe extern "C" fn(*mut c_char)>;

/// Looks a key up in the caller's store, without waiting.
pub type PJRT_KeyValueTryGetCallback =
    Option<unsafe extern "C" fn(*mut PJRT_KeyValueTryGetCallback_Args) -> *mut PJRT_Error>;

/// Puts a key and its value into the caller's store.
pub type PJRT_KeyValuePutCallback =
    Option<unsafe extern "C" fn(*mut PJRT_KeyValuePutCallback_Args) -> *mut PJRT_Error>;

structs! { "pjrt_c_api.h";
    /// What a waiting lookup is asked, and where it puts its answer (`value`, `value_size`,
    /// `value_deleter_callback`).
    args PJRT_KeyValueGetCallback_Args (54) {
        key: *const c_char,
        key_size: usize,
        timeout_in_ms: c_int,
        callback_error: *mut PJRT_CallbackError,
        user_arg: *mut c_void,
        value: *mut c_char,
        value_size: usize,
        value_deleter_callback: PJRT_KeyValueGetCallback_ValueDeleter,
    }

    /// What an immediate lookup is asked, and where it puts its answer (`value`, `value_size`,
    /// `value_deleter_callback`).
    args PJRT_KeyValueTryGetCallback_Args (68) {
        key: *const c_char,
        key_size: usize,
        callback_error: *mut PJRT_CallbackError,
        user_arg: *mut c_void,
        value: *mut c_char,
        value_size: usize,
        value_deleter_callback: PJRT_KeyValueTryGetCallback_ValueDeleter,
    }

    /// The key and value to put into the caller's store.
    args PJRT_KeyValuePutCallback_Args (54) {
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        callback_error: *mut PJRT_CallbackError,
        user_arg: *mut c_void,
    }

    /// Arguments of [`PJRT_Client_Create`]; sets `client`.
    args PJRT_Client_Create_Args (54) {
        create_options: *const PJRT_NamedValue,
        num_options: usize,
        kv_get_callback: PJRT_KeyValueGetCallback,
        kv_get_user_arg: *mut c_void,
        kv_put_callback: PJRT_KeyValuePutCallback,
        kv_put_user_arg: *mut c_void,
        client: *mut PJRT_Client,
        #[since = 68]
        kv_try_get_callback: PJRT_KeyValueTryGetCallback,
        #[since = 68]
        kv_try_get_user_arg: *mut c_void,
    }

    /// Arguments of [`PJRT_Client_Destroy`].
    args PJRT_Client_Destroy_Args (54) {
        client: *mut PJRT_Client,
    }

    /// Arguments of [`PJRT_Client_PlatformName`]; sets `platform_name` and `platform_name_size`.
    args PJRT_Client_PlatformName_Args (54) {
        client: *mut PJRT_Client,
        platform_name: *const c_char,
        platform_name_size: usize,
    }

    /// Arguments of [`PJRT_Client_ProcessIndex`]; sets `process_index`.
    args PJRT_Client_ProcessIndex_Args (54) {
        client: *mut PJRT_Client,
        process_index: c_int,
    }

    /// Arguments of [`PJRT_Client_PlatformVersion`]; sets `platform_version` and
    /// `platform_version_size`.
    args PJRT_Client_PlatformVersion_Args (54) {
        client: *mut PJRT_Client,
        platform_version: *const c_char,
        platform_version_size: usize,
    }

    /// Arguments of [`PJRT_Client_TopologyDescription`]; sets `topology`.
    args PJRT_Client_TopologyDescription_Args (54) {
        client: *mut PJRT_Client,
        topology: *mut PJRT_TopologyDescription,
    }

    /// Arguments of [`PJRT_Client_Devices`]; sets `devices` and `num_devices`.
    args PJRT_Client_Devices_Args (54) {
        client: *mut PJRT_Client,
        devices: *const *mut PJRT_Device,
        num_devices: usize,
    }

    /// Arguments of [`PJRT_Client_AddressableDevices`]; sets `addressable_devices` and
    /// `num_addressable_devices`.
    args PJRT_Client_AddressableDevices_Args (54) {
        client: *mut PJRT_Client,
        addressable_devices: *const *mut PJRT_Device,
        num_addressable_devices: usize,
    }

    /// Arguments of [`PJRT_Client_LookupDevice`]; sets `device`.
    args PJRT_Client_LookupDevice_Args (54) {
        client: *mut PJRT_Client,
        id: c_int,
        device: *mut PJRT_Device,
    }

    /// Arguments of [`PJRT_Client_LookupAddressableDevice`]; sets `addressable_device`.
    args PJRT_Client_LookupAddressableDevice_Args (54) {
        client: *mut PJRT_Client,
        local_hardware_id: c_int,
        addressable_device: *mut PJRT_Device,
    }

    /// How one process of a multi-process client is doing.
    sized PJRT_ProcessInfo (81) {
        task_id: c_int,
        incarnation_id: u64,
        state: PJRT_ProcessState,
        error_code: c_int,
        error_message: *const c_char,
        error_message_size: usize,
    }

    /// Arguments of [`PJRT_Client_UpdateGlobalProcessInfo`].
    args PJRT_Client_UpdateGlobalProcessInfo_Args (81) {
        client: *mut PJRT_Client,
        process_infos: *mut PJRT_ProcessInfo,
        num_process_infos: usize,
    }

    /// Arguments of [`PJRT_Client_AddressableMemories`]; sets `addressable_memories` and
    /// `num_addressable_memories`.
    args PJRT_Client_AddressableMemories_Args (54) {
        client: *mut PJRT_Client,
        addressable_memories: *const *mut PJRT_Memory,
        num_addressable_memories: usize,
    }

    /// Arguments of [`PJRT_Client_DefaultDeviceAssignment`]; sets `default_assignment`.
    args PJRT_Client_DefaultDeviceAssignment_Args (54) {
        client: *mut PJRT_Client,
        num_replicas: c_int,
        num_partitions: c_int,
        default_assignment_size: usize,
        default_assignment: *mut c_int,
    }

    /// Arguments of [`PJRT_Client_DmaMap`].
    args PJRT_Client_DmaMap_Args (68) {
        client: *mut PJRT_Client,
        data: *mut c_void,
        size: usize,
    }

    /// Arguments of [`PJRT_Client_DmaUnmap`].
    args PJRT_Client_DmaUnmap_Args (68) {
        client: *mut PJRT_Client,
        data: *mut c_void,
    }
}
