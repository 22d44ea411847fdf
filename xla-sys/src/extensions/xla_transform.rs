//! Transforms of the compiler's modules.

use crate::*;
use core::ffi::{c_char, c_void};

/// Registers a transform of the compiler's modules.
pub type PJRT_Register_Xla_Transform_Fn =
    Option<unsafe extern "C" fn(*mut PJRT_Register_Xla_Transform_Args) -> *mut PJRT_Error>;

/// Takes a transform out again.
pub type PJRT_Clear_Xla_Transform_Fn =
    Option<unsafe extern "C" fn(*mut PJRT_Clear_Xla_Transform_Args) -> *mut PJRT_Error>;

enums! { "pjrt_c_api_xla_transform_extension.h";
    /// Where in the compiler a transform runs.
    PJRT_XlaTransform_PipelineStage "PJRT_XlaTransform_PipelineStage_k" (114) {
        PreScheduler = 0,
        PostScheduler = 1,
    }
}

structs! { "pjrt_c_api_xla_transform_extension.h";
    /// Text with its length.
    plain PJRT_XlaTransform_string (114) {
        data: *const c_char,
        size: usize,
    }

    /// Head of every transform call: version, clean-up, and the error that it may set.
    plain PJRT_XlaTransform_version_and_error (114) {
        api_version: i64,
        data: *mut c_void,
        cleanup_fn: Option<unsafe extern "C" fn(*mut c_void)>,
        has_error: bool,
        code: PJRT_Error_Code,
        error_msg: PJRT_XlaTransform_string,
    }

    /// One module to transform; sets `transformed_hlo_module` and `changed`.
    sized PJRT_XlaTransform_Args (114) {
        header: PJRT_XlaTransform_version_and_error,
        hlo_module: PJRT_XlaTransform_string,
        transformed_hlo_module: PJRT_XlaTransform_string,
        changed: bool,
    }

    /// The caller's functions that transform modules.
    plain PJRT_XlaTransform_Callbacks (114) {
        version: i64,
        dtor: Option<unsafe extern "C" fn(*mut PJRT_XlaTransform_Callbacks)>,
        transform_hlo_module: Option<unsafe extern "C" fn(*mut PJRT_XlaTransform_Callbacks, *mut PJRT_XlaTransform_Args)>,
    }

    /// Arguments of [`PJRT_Register_Xla_Transform_Fn`].
    sized PJRT_Register_Xla_Transform_Args (114) {
        name: *const c_char,
        name_size: usize,
        stage: PJRT_XlaTransform_PipelineStage,
        callbacks: *mut PJRT_XlaTransform_Callbacks,
    }

    /// Arguments of [`PJRT_Clear_Xla_Transform_Fn`]; sets `callbacks` and `cleared`.
    sized PJRT_Clear_Xla_Transform_Args (114) {
        stage: PJRT_XlaTransform_PipelineStage,
        name: *const c_char,
        name_size: usize,
        callbacks: *mut PJRT_XlaTransform_Callbacks,
        cleared: bool,
    }

    /// Extension: transforms of the compiler's modules.
    extension PJRT_Xla_Transform_Extension (114, XlaTransform) {
        register_xla_transform: PJRT_Register_Xla_Transform_Fn,
        clear_xla_transform: PJRT_Clear_Xla_Transform_Fn,
    }
}
