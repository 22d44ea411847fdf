//! Device layouts.

use crate::*;
use core::ffi::c_char;

/// Frees a layout.
pub type PJRT_Layouts_MemoryLayout_Destroy =
    unsafe extern "C" fn(*mut PJRT_Layouts_MemoryLayout_Destroy_Args) -> *mut PJRT_Error;

/// A layout as text.
pub type PJRT_Layouts_MemoryLayout_Serialize =
    unsafe extern "C" fn(*mut PJRT_Layouts_MemoryLayout_Serialize_Args) -> *mut PJRT_Error;

/// The layout of a buffer, tiles included.
pub type PJRT_Layouts_PJRT_Buffer_MemoryLayout =
    unsafe extern "C" fn(*mut PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args) -> *mut PJRT_Error;

/// The layout that a client picks for a shape.
pub type PJRT_Layouts_PJRT_Client_GetDefaultLayout =
    unsafe extern "C" fn(*mut PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args) -> *mut PJRT_Error;

/// The layout that a topology picks for a shape.
pub type PJRT_Layouts_PJRT_Topology_GetDefaultLayout =
    unsafe extern "C" fn(*mut PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args) -> *mut PJRT_Error;

/// The layouts of a program's results.
pub type PJRT_Layouts_PJRT_Executable_GetOutputLayouts = unsafe extern "C" fn(
    *mut PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args,
) -> *mut PJRT_Error;

/// The layouts of a program's parameters.
pub type PJRT_Layouts_PJRT_Executable_GetParameterLayouts = unsafe extern "C" fn(
    *mut PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args,
)
    -> *mut PJRT_Error;

structs! { "pjrt_c_api_layouts_extension.h";
    /// Arguments of [`PJRT_Layouts_MemoryLayout_Destroy`].
    args PJRT_Layouts_MemoryLayout_Destroy_Args (114) {
        layout: *mut PJRT_Layouts_MemoryLayout,
    }

    /// Arguments of [`PJRT_Layouts_MemoryLayout_Serialize`]; sets `serialized_bytes`,
    /// `serialized_bytes_size`, `serialized_layout` and `serialized_layout_deleter`.
    args PJRT_Layouts_MemoryLayout_Serialize_Args (114) {
        layout: *mut PJRT_Layouts_MemoryLayout,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_layout: *mut PJRT_Layouts_SerializedLayout,
        serialized_layout_deleter: Option<unsafe extern "C" fn(*mut PJRT_Layouts_SerializedLayout)>,
    }

    /// Arguments of [`PJRT_Layouts_PJRT_Buffer_MemoryLayout`]; sets `layout`.
    args PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args (114) {
        buffer: *mut PJRT_Buffer,
        layout: *mut PJRT_Layouts_MemoryLayout,
    }

    /// Arguments of [`PJRT_Layouts_PJRT_Client_GetDefaultLayout`]; sets `layout`.
    args PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args (114) {
        client: *mut PJRT_Client,
        type_: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        layout: *mut PJRT_Layouts_MemoryLayout,
    }

    /// Arguments of [`PJRT_Layouts_PJRT_Topology_GetDefaultLayout`]; sets `layout`.
    args PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args (114) {
        topology_description: *mut PJRT_TopologyDescription,
        type_: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        layout: *mut PJRT_Layouts_MemoryLayout,
    }

    /// Arguments of [`PJRT_Layouts_PJRT_Executable_GetOutputLayouts`]; sets `num_outputs` and
    /// `layouts`.
    args PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args (114) {
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        layouts: *mut *mut PJRT_Layouts_MemoryLayout,
    }

    /// Arguments of [`PJRT_Layouts_PJRT_Executable_GetParameterLayouts`]; sets `num_parameters` and
    /// `layouts`.
    args PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args (114) {
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        layouts: *mut *mut PJRT_Layouts_MemoryLayout,
    }

    /// Extension: device layouts, of buffers and of programs.
    extension PJRT_Layouts_Extension (114, Layouts) {
        PJRT_Layouts_MemoryLayout_Destroy: Option<PJRT_Layouts_MemoryLayout_Destroy>,
        PJRT_Layouts_MemoryLayout_Serialize: Option<PJRT_Layouts_MemoryLayout_Serialize>,
        PJRT_Layouts_PJRT_Client_GetDefaultLayout: Option<PJRT_Layouts_PJRT_Client_GetDefaultLayout>,
        PJRT_Layouts_PJRT_Buffer_MemoryLayout: Option<PJRT_Layouts_PJRT_Buffer_MemoryLayout>,
        PJRT_Layouts_PJRT_Topology_GetDefaultLayout: Option<PJRT_Layouts_PJRT_Topology_GetDefaultLayout>,
        PJRT_Layouts_PJRT_Executable_GetOutputLayouts: Option<PJRT_Layouts_PJRT_Executable_GetOutputLayouts>,
        PJRT_Layouts_PJRT_Executable_GetParameterLayouts: Option<PJRT_Layouts_PJRT_Executable_GetParameterLayouts>,
    }
}
