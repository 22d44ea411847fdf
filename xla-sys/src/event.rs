//! Events: things that will be done.

use crate::*;
use core::ffi::{c_char, c_void};

/// Called with how the event ended (the error is the callback's to free) and the caller's argument.
pub type PJRT_Event_OnReadyCallback = Option<unsafe extern "C" fn(*mut PJRT_Error, *mut c_void)>;

structs! { "pjrt_c_api.h";
    /// Arguments of [`PJRT_Event_Destroy`].
    args PJRT_Event_Destroy_Args (54) {
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Event_IsReady`]; sets `is_ready`.
    args PJRT_Event_IsReady_Args (54) {
        event: *mut PJRT_Event,
        is_ready: bool,
    }

    /// Arguments of [`PJRT_Event_Error`].
    args PJRT_Event_Error_Args (54) {
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Event_Await`].
    args PJRT_Event_Await_Args (54) {
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Event_OnReady`].
    args PJRT_Event_OnReady_Args (54) {
        event: *mut PJRT_Event,
        callback: PJRT_Event_OnReadyCallback,
        user_arg: *mut c_void,
    }

    /// Arguments of [`PJRT_Event_Create`]; sets `event`.
    args PJRT_Event_Create_Args (90) {
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Event_Set`].
    args PJRT_Event_Set_Args (90) {
        event: *mut PJRT_Event,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
    }

    /// Arguments of [`PJRT_AsyncTrackingEvent_Destroy`].
    args PJRT_AsyncTrackingEvent_Destroy_Args (90) {
        event: *mut PJRT_AsyncTrackingEvent,
    }
}
