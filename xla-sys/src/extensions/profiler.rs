//! The profiler, as an extension of PJRT.

use crate::*;

structs! { "pjrt_c_api_profiler_extension.h";
    /// Extension: record what runs on the devices.
    extension PJRT_Profiler_Extension (114, Profiler) {
        profiler_api: *mut PLUGIN_Profiler_Api,
        traceme_context_id: i64,
    }
}
