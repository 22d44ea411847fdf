//! Order between XLA and a platform's streams.

use crate::*;

/// A stream of the device on which outside work can wait.
pub type PJRT_Get_Stream_For_External_Ready_Events =
    unsafe extern "C" fn(*mut PJRT_Get_Stream_For_External_Ready_Events_Args) -> *mut PJRT_Error;

/// Makes a stream wait for a buffer.
pub type PJRT_Wait_Until_Buffer_Ready_On_Stream =
    unsafe extern "C" fn(*mut PJRT_Wait_Until_Buffer_Ready_On_Stream_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_stream_extension.h";
    /// Arguments of [`PJRT_Get_Stream_For_External_Ready_Events`]; sets `stream`.
    sized PJRT_Get_Stream_For_External_Ready_Events_Args (114) {
        device: *mut PJRT_Device,
        stream: isize,
    }

    /// Arguments of [`PJRT_Wait_Until_Buffer_Ready_On_Stream`].
    sized PJRT_Wait_Until_Buffer_Ready_On_Stream_Args (114) {
        stream: isize,
        buffer: *mut PJRT_Buffer,
    }

    /// Extension: order work between XLA and a platform's streams.
    extension PJRT_Stream_Extension (114, Stream) {
        get_stream: Option<PJRT_Get_Stream_For_External_Ready_Events>,
        wait_stream: Option<PJRT_Wait_Until_Buffer_Ready_On_Stream>,
    }
}
