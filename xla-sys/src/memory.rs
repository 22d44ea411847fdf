//! Memories.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

structs! { "pjrt_c_api.h";
    /// Functions that a `PJRT_Memory` made at this minor carries in its first word.
    args PJRT_Memory_FunctionTable (114) {
        instance_struct_size: usize,
        get_user_data: Option<unsafe extern "C" fn(*mut PJRT_Memory, *const c_void) -> *mut c_void>,
        set_user_data: Option<unsafe extern "C" fn(*mut PJRT_Memory, *const c_void, *mut c_void, Option<unsafe extern "C" fn(*mut c_void)>)>,
    }

    /// Arguments of [`PJRT_Memory_Id`]; sets `id`.
    args PJRT_Memory_Id_Args (54) {
        memory: *mut PJRT_Memory,
        id: c_int,
    }

    /// Arguments of [`PJRT_Memory_Kind`]; sets `kind` and `kind_size`.
    args PJRT_Memory_Kind_Args (54) {
        memory: *mut PJRT_Memory,
        kind: *const c_char,
        kind_size: usize,
    }

    /// Arguments of [`PJRT_Memory_Kind_Id`]; sets `kind_id`.
    args PJRT_Memory_Kind_Id_Args (54) {
        memory: *mut PJRT_Memory,
        kind_id: c_int,
    }

    /// Arguments of [`PJRT_Memory_DebugString`]; sets `debug_string` and `debug_string_size`.
    args PJRT_Memory_DebugString_Args (54) {
        memory: *mut PJRT_Memory,
        debug_string: *const c_char,
        debug_string_size: usize,
    }

    /// Arguments of [`PJRT_Memory_ToString`]; sets `to_string` and `to_string_size`.
    args PJRT_Memory_ToString_Args (54) {
        memory: *mut PJRT_Memory,
        to_string: *const c_char,
        to_string_size: usize,
    }

    /// Arguments of [`PJRT_Memory_AddressableByDevices`]; sets `devices` and `num_devices`.
    args PJRT_Memory_AddressableByDevices_Args (54) {
        memory: *mut PJRT_Memory,
        devices: *const *mut PJRT_Device,
        num_devices: usize,
    }
}
