//! Compiling Triton modules.

use crate::*;
use core::ffi::{c_char, c_int};

/// Compiles a Triton module to GPU assembly.
pub type PJRT_Triton_Compile =
    unsafe extern "C" fn(*mut PJRT_Triton_Compile_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_triton_extension.h";
    /// Arguments of [`PJRT_Triton_Compile`]; sets `out_asm`, `out_asm_size`, `out_smem_bytes`,
    /// `out_path` and `out_path_size`.
    sized PJRT_Triton_Compile_Args (114) {
        module: *const c_char,
        module_size: usize,
        arch_name: *const c_char,
        arch_name_size: usize,
        num_warps: c_int,
        num_ctas: c_int,
        num_stages: c_int,
        out_asm: *const c_char,
        out_asm_size: usize,
        out_smem_bytes: i64,
        out_path: *const c_char,
        out_path_size: usize,
    }

    /// Extension: compile Triton modules.
    extension PJRT_Triton_Extension (114, Triton) {
        compile: Option<PJRT_Triton_Compile>,
    }
}
