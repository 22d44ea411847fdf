//! Compiling phase by phase.

use crate::*;
use core::ffi::c_char;

/// Gets a compiler that runs phase by phase.
pub type PJRT_PhaseCompile_Get_Compiler =
    unsafe extern "C" fn(*mut PJRT_PhaseCompile_Get_Compiler_Args) -> *mut PJRT_Error;

/// Frees such a compiler. Returns nothing.
pub type PJRT_PhaseCompile_Destroy_Compiler =
    unsafe extern "C" fn(*mut PJRT_PhaseCompile_Destroy_Compiler_Args);

/// Runs some of the phases on partly compiled programs.
pub type PJRT_PhaseCompile_Run_Phase =
    unsafe extern "C" fn(*mut PJRT_PhaseCompile_Run_Phase_Args) -> *mut PJRT_Error;

/// The names of all phases, in order.
pub type PJRT_PhaseCompile_Get_PhaseNames =
    unsafe extern "C" fn(*mut PJRT_PhaseCompile_Get_PhaseNames_Args) -> *mut PJRT_Error;

/// Frees texts that the two calls before this one gave. Returns nothing.
pub type PJRT_PhaseCompile_C_Buffers_Destroy =
    unsafe extern "C" fn(*mut PJRT_PhaseCompile_C_Buffers_Destroy_Args);

structs! { "pjrt_c_api_phase_compile_extension.h";
    /// Arguments of [`PJRT_PhaseCompile_Get_Compiler`]; sets `phase_compiler`.
    args PJRT_PhaseCompile_Get_Compiler_Args (114) {
        phase_compiler: *const PJRT_PhaseCompiler,
    }

    /// Arguments of [`PJRT_PhaseCompile_Destroy_Compiler`].
    args PJRT_PhaseCompile_Destroy_Compiler_Args (114) {
        phase_compiler: *const PJRT_PhaseCompiler,
    }

    /// Arguments of [`PJRT_PhaseCompile_Run_Phase`]; sets `output_programs`,
    /// `output_programs_sizes` and `num_output_programs`.
    args PJRT_PhaseCompile_Run_Phase_Args (114) {
        phase_compiler: *const PJRT_PhaseCompiler,
        input_programs: *mut *const c_char,
        input_programs_sizes: *const usize,
        num_input_programs: usize,
        phases_to_run: *mut *const c_char,
        phases_to_run_sizes: *const usize,
        num_phases_to_run: usize,
        compile_options: *const c_char,
        compile_options_size: usize,
        topology: *mut PJRT_TopologyDescription,
        output_programs: *mut *const c_char,
        output_programs_sizes: *const usize,
        num_output_programs: usize,
    }

    /// Arguments of [`PJRT_PhaseCompile_Get_PhaseNames`]; sets `phase_names`, `phase_names_sizes`
    /// and `num_phase_names`.
    args PJRT_PhaseCompile_Get_PhaseNames_Args (114) {
        phase_compiler: *const PJRT_PhaseCompiler,
        phase_names: *mut *const c_char,
        phase_names_sizes: *const usize,
        num_phase_names: usize,
    }

    /// Arguments of [`PJRT_PhaseCompile_C_Buffers_Destroy`].
    args PJRT_PhaseCompile_C_Buffers_Destroy_Args (114) {
        char_buffers: *mut *const c_char,
        char_buffer_sizes: *const usize,
        num_char_buffers: usize,
    }

    /// Extension: compile phase by phase.
    extension PJRT_PhaseCompile_Extension (114, PhaseCompile) {
        phase_compile_get_compiler: Option<PJRT_PhaseCompile_Get_Compiler>,
        phase_compile_destroy_compiler: Option<PJRT_PhaseCompile_Destroy_Compiler>,
        phase_compile_run_phases: Option<PJRT_PhaseCompile_Run_Phase>,
        phase_compile_get_phase_names: Option<PJRT_PhaseCompile_Get_PhaseNames>,
        phase_compile_c_buffers_destroy: Option<PJRT_PhaseCompile_C_Buffers_Destroy>,
    }
}
