//! Errors.

use crate::*;
use core::ffi::{c_char, c_void};

/// Sees one payload of an error: its key, its bytes, the caller's argument.
pub type PJRT_Error_PayloadVisitor =
    Option<unsafe extern "C" fn(*const c_char, usize, *const c_char, usize, *mut c_void)>;

/// Makes an error from a code and a text, for callbacks that have to return one.
pub type PJRT_CallbackError =
    Option<unsafe extern "C" fn(PJRT_Error_Code, *const c_char, usize) -> *mut PJRT_Error>;

structs! { "pjrt_c_api.h";
    /// Arguments of [`PJRT_Error_Destroy`].
    args PJRT_Error_Destroy_Args (54) {
        error: *mut PJRT_Error,
    }

    /// Arguments of [`PJRT_Error_Message`]; sets `message` and `message_size`.
    args PJRT_Error_Message_Args (54) {
        error: *const PJRT_Error,
        message: *const c_char,
        message_size: usize,
    }

    /// Functions that a `PJRT_Error` made at this minor carries in its first word.
    sized PJRT_Error_FunctionTable (114) {
        instance_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        destroy: Option<unsafe extern "C" fn(*mut PJRT_Error)>,
        message: Option<unsafe extern "C" fn(*const PJRT_Error, *mut *const c_char, *mut usize)>,
        get_code: Option<unsafe extern "C" fn(*const PJRT_Error) -> PJRT_Error_Code>,
        for_each_payload: Option<unsafe extern "C" fn(*const PJRT_Error, PJRT_Error_PayloadVisitor, *mut c_void)>,
    }

    /// Arguments of [`PJRT_Error_GetCode`]; sets `code`.
    args PJRT_Error_GetCode_Args (54) {
        error: *const PJRT_Error,
        code: PJRT_Error_Code,
    }

    /// Arguments of [`PJRT_Error_ForEachPayload`].
    args PJRT_Error_ForEachPayload_Args (114) {
        error: *const PJRT_Error,
        visitor: PJRT_Error_PayloadVisitor,
        user_arg: *mut c_void,
    }
}
