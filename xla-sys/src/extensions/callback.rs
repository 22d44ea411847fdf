//! Callbacks that a plugin can call; only their names so far.

use core::ffi::c_void;

/// A registered callback: its arguments, and the caller's own.
pub type PJRT_Callback_Function = unsafe extern "C" fn(*mut c_void, *mut c_void);

enums! { "pjrt_c_api_callback_extension.h";
    /// Kinds of callbacks that a plugin can call.
    PJRT_Callback_Type "PJRT_Callback_Type_" (114) {
        Unknown = 0,
        Tpu_SliceBuilder = 1,
        Prefatal = 2,
    }

    /// Why a TPU slice failed.
    PJRT_Callback_Tpu_SliceFailureType "SLICE_FAILURE_" (114) {
        UNKNOWN = 0,
        INIT_ERROR = 1,
        WORKER_UNAVAILABLE = 2,
        FLAPPING_TASK_ERROR = 3,
        SW_INJECT_ERROR = 4,
        CHIP_DRIVER_ERROR = 5,
    }
}
