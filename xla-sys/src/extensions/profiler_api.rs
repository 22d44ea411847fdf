//! The profiler's own table.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Frees a profiler error. Returns nothing.
pub type PLUGIN_Profiler_Error_Destroy =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Error_Destroy_Args);

/// Lends the text of a profiler error. Returns nothing.
pub type PLUGIN_Profiler_Error_Message =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Error_Message_Args);

/// Reads the status code of a profiler error.
pub type PLUGIN_Profiler_Error_GetCode =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Error_GetCode_Args) -> *mut PLUGIN_Profiler_Error;

/// Makes a profiler.
pub type PLUGIN_Profiler_Create =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Create_Args) -> *mut PLUGIN_Profiler_Error;

/// Frees a profiler.
pub type PLUGIN_Profiler_Destroy =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Destroy_Args) -> *mut PLUGIN_Profiler_Error;

/// Starts recording.
pub type PLUGIN_Profiler_Start =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Start_Args) -> *mut PLUGIN_Profiler_Error;

/// Stops recording.
pub type PLUGIN_Profiler_Stop =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Stop_Args) -> *mut PLUGIN_Profiler_Error;

/// Copies what was recorded; without a buffer it only tells the size.
pub type PLUGIN_Profiler_CollectData =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_CollectData_Args) -> *mut PLUGIN_Profiler_Error;

/// Takes what was recorded out of the profiler.
pub type PLUGIN_Profiler_Consume =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Consume_Args) -> *mut PLUGIN_Profiler_Error;

/// Frees what was taken out. Returns nothing.
pub type PLUGIN_Profiler_ConsumeResult_Destroy =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_ConsumeResult_Destroy_Args);

/// What was taken out, as a serialised message.
pub type PLUGIN_Profiler_Serialize =
    unsafe extern "C" fn(*mut PLUGIN_Profiler_Serialize_Args) -> *mut PLUGIN_Profiler_Error;

structs! { "profiler_c_api.h";
    /// Arguments of [`PLUGIN_Profiler_Error_Destroy`].
    sized PLUGIN_Profiler_Error_Destroy_Args (114) {
        priv_: *mut c_void,
        error: *mut PLUGIN_Profiler_Error,
    }

    /// Arguments of [`PLUGIN_Profiler_Error_Message`]; sets `message` and `message_size`.
    sized PLUGIN_Profiler_Error_Message_Args (114) {
        priv_: *mut c_void,
        error: *const PLUGIN_Profiler_Error,
        message: *const c_char,
        message_size: usize,
    }

    /// Arguments of [`PLUGIN_Profiler_Error_GetCode`]; sets `code`.
    sized PLUGIN_Profiler_Error_GetCode_Args (114) {
        priv_: *mut c_void,
        error: *const PLUGIN_Profiler_Error,
        code: c_int,
    }

    /// Arguments of [`PLUGIN_Profiler_Create`]; sets `profiler`.
    sized PLUGIN_Profiler_Create_Args (114) {
        options: *const c_char,
        options_size: usize,
        profiler: *mut PLUGIN_Profiler,
    }

    /// Arguments of [`PLUGIN_Profiler_Destroy`].
    sized PLUGIN_Profiler_Destroy_Args (114) {
        profiler: *mut PLUGIN_Profiler,
    }

    /// Arguments of [`PLUGIN_Profiler_Start`].
    sized PLUGIN_Profiler_Start_Args (114) {
        profiler: *mut PLUGIN_Profiler,
    }

    /// Arguments of [`PLUGIN_Profiler_Stop`].
    sized PLUGIN_Profiler_Stop_Args (114) {
        profiler: *mut PLUGIN_Profiler,
    }

    /// Arguments of [`PLUGIN_Profiler_CollectData`]; sets `buffer_size_in_bytes`.
    sized PLUGIN_Profiler_CollectData_Args (114) {
        profiler: *mut PLUGIN_Profiler,
        buffer: *mut u8,
        buffer_size_in_bytes: usize,
    }

    /// Arguments of [`PLUGIN_Profiler_Consume`]; sets `result`.
    sized PLUGIN_Profiler_Consume_Args (114) {
        profiler: *mut PLUGIN_Profiler,
        result: *mut PLUGIN_Profiler_ConsumeResult,
    }

    /// Arguments of [`PLUGIN_Profiler_ConsumeResult_Destroy`].
    sized PLUGIN_Profiler_ConsumeResult_Destroy_Args (114) {
        consume_result: *mut PLUGIN_Profiler_ConsumeResult,
    }

    /// Arguments of [`PLUGIN_Profiler_Serialize`]; sets `serialized_bytes` and `serialized_size`.
    sized PLUGIN_Profiler_Serialize_Args (114) {
        profiler: *mut PLUGIN_Profiler,
        consume_result: *mut PLUGIN_Profiler_ConsumeResult,
        serialized_bytes: *const u8,
        serialized_size: usize,
    }

    /// The table of the profiler.
    sized PLUGIN_Profiler_Api (114) {
        priv_: *mut c_void,
        error_destroy: Option<PLUGIN_Profiler_Error_Destroy>,
        error_message: Option<PLUGIN_Profiler_Error_Message>,
        error_get_code: Option<PLUGIN_Profiler_Error_GetCode>,
        create: Option<PLUGIN_Profiler_Create>,
        destroy: Option<PLUGIN_Profiler_Destroy>,
        start: Option<PLUGIN_Profiler_Start>,
        stop: Option<PLUGIN_Profiler_Stop>,
        collect_data: Option<PLUGIN_Profiler_CollectData>,
        consume: Option<PLUGIN_Profiler_Consume>,
        consume_result_destroy: Option<PLUGIN_Profiler_ConsumeResult_Destroy>,
        serialize: Option<PLUGIN_Profiler_Serialize>,
    }
}
