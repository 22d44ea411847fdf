//! Custom calls by XLA's typed FFI, as seen from PJRT; [`XLA_FFI_Api`](crate::XLA_FFI_Api) is the other side.

use crate::*;
use core::ffi::{c_char, c_void};

/// Registers a type of user data and gets its id.
pub type PJRT_FFI_Type_Register =
    unsafe extern "C" fn(*mut PJRT_FFI_Type_Register_Args) -> *mut PJRT_Error;

/// Adds user data to an execute context.
pub type PJRT_FFI_UserData_Add =
    unsafe extern "C" fn(*mut PJRT_FFI_UserData_Add_Args) -> *mut PJRT_Error;

/// Registers the handler of a custom call.
pub type PJRT_FFI_Register_Handler =
    unsafe extern "C" fn(*mut PJRT_FFI_Register_Handler_Args) -> *mut PJRT_Error;

enums! { "pjrt_c_api_ffi_extension.h";
    /// Bits of what a handler promises.
    PJRT_FFI_Handler_TraitsBits "PJRT_FFI_HANDLER_TRAITS_" (114) {
        COMMAND_BUFFER_COMPATIBLE = 1,
    }
}

structs! { "pjrt_c_api_ffi_extension.h";
    /// Functions on a type of user data.
    plain PJRT_FFI_Type_Info (114) {
        deleter: Option<unsafe extern "C" fn(*mut c_void)>,
        serialize: Option<unsafe extern "C" fn()>,
        deserialize: Option<unsafe extern "C" fn()>,
    }

    /// Arguments of [`PJRT_FFI_Type_Register`]; sets `type_id`.
    args PJRT_FFI_Type_Register_Args (114) {
        type_name: *const c_char,
        type_name_size: usize,
        type_id: i64,
        type_info: *mut PJRT_FFI_Type_Info,
    }

    /// A piece of user data and the id of its type.
    plain PJRT_FFI_UserData (114) {
        type_id: i64,
        data: *mut c_void,
    }

    /// Arguments of [`PJRT_FFI_UserData_Add`].
    args PJRT_FFI_UserData_Add_Args (114) {
        context: *mut PJRT_ExecuteContext,
        user_data: PJRT_FFI_UserData,
    }

    /// Arguments of [`PJRT_FFI_Register_Handler`].
    sized PJRT_FFI_Register_Handler_Args (114) {
        target_name: *const c_char,
        target_name_size: usize,
        handler: *mut c_void,
        platform_name: *const c_char,
        platform_name_size: usize,
        traits: PJRT_FFI_Handler_TraitsBits,
    }

    /// Extension: custom calls by XLA's typed FFI.
    extension PJRT_FFI_Extension (114, FFI) {
        type_register: Option<PJRT_FFI_Type_Register>,
        user_data_add: Option<PJRT_FFI_UserData_Add>,
        register_handler: Option<PJRT_FFI_Register_Handler>,
    }
}
