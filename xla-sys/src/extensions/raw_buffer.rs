//! Untyped views of device memory.

use crate::*;
use core::ffi::c_void;

/// A raw view of a buffer's memory.
pub type PJRT_RawBuffer_CreateRawAliasOfBuffer =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_CreateRawAliasOfBuffer_Args) -> *mut PJRT_Error;

/// Frees a raw buffer.
pub type PJRT_RawBuffer_Destroy =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_Destroy_Args) -> *mut PJRT_Error;

/// The host address of a raw buffer, or null.
pub type PJRT_RawBuffer_GetHostPointer =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_GetHostPointer_Args) -> *mut PJRT_Error;

/// Size of a raw buffer on its device.
pub type PJRT_RawBuffer_GetOnDeviceSizeInBytes =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_GetOnDeviceSizeInBytes_Args) -> *mut PJRT_Error;

/// The memory that holds a raw buffer.
pub type PJRT_RawBuffer_GetMemorySpace =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_GetMemorySpace_Args) -> *mut PJRT_Error;

/// Starts copying a range of bytes to the host.
pub type PJRT_RawBuffer_CopyRawDeviceToHost =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_CopyRawDeviceToHost_Args) -> *mut PJRT_Error;

/// Starts copying a range of bytes from the host.
pub type PJRT_RawBuffer_CopyRawHostToDevice =
    unsafe extern "C" fn(*mut PJRT_RawBuffer_CopyRawHostToDevice_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_raw_buffer_extension.h";
    /// Functions that a `PJRT_RawBuffer` carries in its first word.
    sized PJRT_RawBuffer_FunctionTable (114) {
        instance_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        inc_ref: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer)>,
        dec_ref: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer)>,
        get_on_device_size_in_bytes: Option<unsafe extern "C" fn(*const PJRT_RawBuffer) -> usize>,
        get_memory_space: Option<unsafe extern "C" fn(*const PJRT_RawBuffer) -> *mut PJRT_Memory>,
        get_host_pointer: Option<unsafe extern "C" fn(*const PJRT_RawBuffer) -> *mut c_void>,
        copy_raw_host_to_device_and_return_event: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, *const c_void, i64, i64, *mut PJRT_DeviceEventVector, *mut PJRT_DeviceEvent) -> *mut PJRT_Error>,
        copy_raw_device_to_host_and_return_event: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, *mut c_void, i64, i64, *mut PJRT_DeviceEventVector, *mut PJRT_DeviceEvent) -> *mut PJRT_Error>,
        opaque_device_memory_data_pointer: Option<unsafe extern "C" fn(*const PJRT_RawBuffer) -> *mut c_void>,
        make_allocation_ready_event: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, *mut PJRT_DeviceEvent) -> *mut PJRT_Error>,
        get_raw_buffer_async_value: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, *mut PJRT_DeviceEvent) -> *mut PJRT_Error>,
        is_mutable: Option<unsafe extern "C" fn(*const PJRT_RawBuffer) -> bool>,
        slice: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, i64, i64, *mut *mut PJRT_RawBuffer) -> *mut PJRT_Error>,
        schedule_copy_to: Option<unsafe extern "C" fn(*mut PJRT_RawBuffer, *mut PJRT_DeviceEventVector, *mut PJRT_RawBuffer, *mut PJRT_DeviceEventPromise, *mut PJRT_DeviceEventPromise, Option<unsafe extern "C" fn(*mut PJRT_Error, *mut c_void)>, *mut c_void)>,
    }

    /// Arguments of [`PJRT_RawBuffer_CreateRawAliasOfBuffer`]; sets `raw_buffer`.
    args PJRT_RawBuffer_CreateRawAliasOfBuffer_Args (114) {
        buffer: *mut PJRT_Buffer,
        raw_buffer: *mut PJRT_RawBuffer,
    }

    /// Arguments of [`PJRT_RawBuffer_Destroy`].
    args PJRT_RawBuffer_Destroy_Args (114) {
        buffer: *mut PJRT_RawBuffer,
    }

    /// Arguments of [`PJRT_RawBuffer_GetHostPointer`]; sets `host_pointer`.
    args PJRT_RawBuffer_GetHostPointer_Args (114) {
        buffer: *mut PJRT_RawBuffer,
        host_pointer: *mut c_void,
    }

    /// Arguments of [`PJRT_RawBuffer_GetOnDeviceSizeInBytes`]; sets `on_device_size_in_bytes`.
    args PJRT_RawBuffer_GetOnDeviceSizeInBytes_Args (114) {
        buffer: *mut PJRT_RawBuffer,
        on_device_size_in_bytes: usize,
    }

    /// Arguments of [`PJRT_RawBuffer_GetMemorySpace`]; sets `memory_space`.
    args PJRT_RawBuffer_GetMemorySpace_Args (114) {
        buffer: *mut PJRT_RawBuffer,
        memory_space: *mut PJRT_Memory,
    }

    /// Arguments of [`PJRT_RawBuffer_CopyRawDeviceToHost`]; sets `event`.
    args PJRT_RawBuffer_CopyRawDeviceToHost_Args (114) {
        buffer: *mut PJRT_RawBuffer,
        dst: *mut c_void,
        offset: i64,
        transfer_size: i64,
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_RawBuffer_CopyRawHostToDevice`]; sets `event`.
    args PJRT_RawBuffer_CopyRawHostToDevice_Args (114) {
        buffer: *mut PJRT_RawBuffer,
        src: *const c_void,
        offset: i64,
        transfer_size: i64,
        event: *mut PJRT_Event,
    }

    /// Extension: untyped views of device memory.
    extension PJRT_RawBuffer_Extension (114, RawBuffer) {
        PJRT_RawBuffer_CreateRawAliasOfBuffer: Option<PJRT_RawBuffer_CreateRawAliasOfBuffer>,
        PJRT_RawBuffer_Destroy: Option<PJRT_RawBuffer_Destroy>,
        PJRT_RawBuffer_GetOnDeviceSizeInBytes: Option<PJRT_RawBuffer_GetOnDeviceSizeInBytes>,
        PJRT_RawBuffer_GetMemorySpace: Option<PJRT_RawBuffer_GetMemorySpace>,
        PJRT_RawBuffer_CopyRawHostToDevice: Option<PJRT_RawBuffer_CopyRawHostToDevice>,
        PJRT_RawBuffer_CopyRawDeviceToHost: Option<PJRT_RawBuffer_CopyRawDeviceToHost>,
        PJRT_RawBuffer_GetHostPointer: Option<PJRT_RawBuffer_GetHostPointer>,
    }
}
