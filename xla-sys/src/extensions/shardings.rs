//! Shardings of compiled programs.

use crate::*;
use core::ffi::c_char;

/// The shardings of a program's parameters, as serialised messages.
pub type PJRT_Shardings_PJRT_Executable_ParameterShardings =
    unsafe extern "C" fn(
        *mut PJRT_Shardings_PJRT_Executable_ParameterShardings_Args,
    ) -> *mut PJRT_Error;

/// The shardings of a program's results, as serialised messages.
pub type PJRT_Shardings_PJRT_Executable_OutputShardings = unsafe extern "C" fn(
    *mut PJRT_Shardings_PJRT_Executable_OutputShardings_Args,
) -> *mut PJRT_Error;

structs! { "pjrt_c_api_shardings_extension.h";
    /// Arguments of [`PJRT_Shardings_PJRT_Executable_ParameterShardings`]; sets `num_parameters`,
    /// `shardings` and `sharding_sizes`.
    args PJRT_Shardings_PJRT_Executable_ParameterShardings_Args (114) {
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }

    /// Arguments of [`PJRT_Shardings_PJRT_Executable_OutputShardings`]; sets `num_outputs`,
    /// `shardings` and `sharding_sizes`.
    args PJRT_Shardings_PJRT_Executable_OutputShardings_Args (114) {
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }

    /// Extension: shardings of compiled programs.
    extension PJRT_Shardings_Extension (114, Shardings) {
        PJRT_Shardings_PJRT_Executable_ParameterShardings: Option<PJRT_Shardings_PJRT_Executable_ParameterShardings>,
        PJRT_Shardings_PJRT_Executable_OutputShardings: Option<PJRT_Shardings_PJRT_Executable_OutputShardings>,
    }
}
