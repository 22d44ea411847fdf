//! Custom calls on GPU platforms.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Registers a custom call on a GPU platform.
pub type PJRT_Gpu_Register_Custom_Call =
    unsafe extern "C" fn(*mut PJRT_Gpu_Register_Custom_Call_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_gpu_extension.h";
    /// Arguments of [`PJRT_Gpu_Register_Custom_Call`].
    sized PJRT_Gpu_Register_Custom_Call_Args (114) {
        function_name: *const c_char,
        function_name_size: usize,
        api_version: c_int,
        handler_instantiate: *mut c_void,
        handler_prepare: *mut c_void,
        handler_initialize: *mut c_void,
        handler_execute: *mut c_void,
    }

    /// Extension: custom calls on GPU platforms.
    extension PJRT_Gpu_Custom_Call (114, Gpu_Custom_Call) {
        custom_call: Option<PJRT_Gpu_Register_Custom_Call>,
    }
}
