//! Device events: the runtime's own events, by value.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Called with its argument once a device event is done.
pub type PJRT_DeviceEvent_AndThen = Option<unsafe extern "C" fn(*mut c_void)>;

enums! { "pjrt_c_api_device_event.h";
    /// How far a device event is.
    PJRT_DeviceEvent_State "PJRT_DeviceEvent_State_" (114) {
        Unavailable = 0,
        Ready = 1,
        Error = 2,
    }
}

structs! { "pjrt_c_api_device_event.h";
    /// Functions of a device event.
    args PJRT_DeviceEvent_FunctionTable (114) {
        inc_ref: Option<unsafe extern "C" fn(*mut c_void)>,
        dec_ref: Option<unsafe extern "C" fn(*mut c_void)>,
        and_then: Option<unsafe extern "C" fn(*mut c_void, PJRT_DeviceEvent_AndThen, *mut c_void)>,
        get_error_if_present: Option<unsafe extern "C" fn(*mut c_void, *mut PJRT_Error_Code, *mut *const c_char, *mut usize) -> c_int>,
        parent: *const PJRT_DeviceEvent_FunctionTable,
        get_state: Option<unsafe extern "C" fn(*mut c_void) -> PJRT_DeviceEvent_State>,
        get_definition_stream: Option<unsafe extern "C" fn(*mut c_void, *mut u64) -> isize>,
    }

    /// A device event, passed by value: its functions and the event itself.
    plain PJRT_DeviceEvent (114) {
        vtable: *const PJRT_DeviceEvent_FunctionTable,
        device_event: *mut c_void,
    }

    /// A growing list of device events.
    plain PJRT_DeviceEventVector (114) {
        data: *mut PJRT_DeviceEvent,
        size: usize,
        capacity: usize,
        destroy: Option<unsafe extern "C" fn(*mut PJRT_DeviceEvent)>,
    }

    /// Functions that a `PJRT_DeviceEventPromise` carries in its first word.
    sized PJRT_DeviceEventPromise_FunctionTable (114) {
        instance_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        inc_ref: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise)>,
        dec_ref: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise)>,
        event: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise) -> PJRT_DeviceEvent>,
        set: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise, PJRT_DeviceEvent)>,
        set_error: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise, *mut PJRT_Error)>,
        set_ready: Option<unsafe extern "C" fn(*mut PJRT_DeviceEventPromise)>,
    }
}
