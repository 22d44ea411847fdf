//! Topologies: devices described without being there.

use crate::*;
use core::ffi::{c_char, c_int};

structs! { "pjrt_c_api.h";
    /// Arguments of [`PJRT_TopologyDescription_Create`]; sets `topology`.
    args PJRT_TopologyDescription_Create_Args (54) {
        topology_name: *const c_char,
        topology_name_size: usize,
        create_options: *const PJRT_NamedValue,
        num_options: usize,
        topology: *mut PJRT_TopologyDescription,
    }

    /// Arguments of [`PJRT_TopologyDescription_Destroy`].
    args PJRT_TopologyDescription_Destroy_Args (54) {
        topology: *mut PJRT_TopologyDescription,
    }

    /// Arguments of [`PJRT_TopologyDescription_PlatformVersion`]; sets `platform_version` and
    /// `platform_version_size`.
    args PJRT_TopologyDescription_PlatformVersion_Args (54) {
        topology: *mut PJRT_TopologyDescription,
        platform_version: *const c_char,
        platform_version_size: usize,
    }

    /// Arguments of [`PJRT_TopologyDescription_PlatformName`]; sets `platform_name` and
    /// `platform_name_size`.
    args PJRT_TopologyDescription_PlatformName_Args (54) {
        topology: *const PJRT_TopologyDescription,
        platform_name: *const c_char,
        platform_name_size: usize,
    }

    /// Arguments of [`PJRT_TopologyDescription_GetDeviceDescriptions`]; sets `descriptions` and
    /// `num_descriptions`.
    args PJRT_TopologyDescription_GetDeviceDescriptions_Args (54) {
        topology: *const PJRT_TopologyDescription,
        descriptions: *const *mut PJRT_DeviceDescription,
        num_descriptions: usize,
    }

    /// Arguments of [`PJRT_TopologyDescription_Serialize`]; sets `serialized_bytes`,
    /// `serialized_bytes_size`, `serialized_topology` and `serialized_topology_deleter`.
    args PJRT_TopologyDescription_Serialize_Args (54) {
        topology: *mut PJRT_TopologyDescription,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_topology: *mut PJRT_SerializedTopology,
        serialized_topology_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedTopology)>,
    }

    /// Arguments of [`PJRT_TopologyDescription_Deserialize`]; sets `topology`.
    args PJRT_TopologyDescription_Deserialize_Args (81) {
        serialized_topology: *const c_char,
        serialized_topology_size: usize,
        topology: *mut PJRT_TopologyDescription,
    }

    /// Arguments of [`PJRT_TopologyDescription_Attributes`]; sets `attributes` and
    /// `num_attributes`.
    args PJRT_TopologyDescription_Attributes_Args (54) {
        topology: *mut PJRT_TopologyDescription,
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
    }

    /// Arguments of [`PJRT_TopologyDescription_Fingerprint`]; sets `fingerprint`.
    args PJRT_TopologyDescription_Fingerprint_Args (114) {
        topology: *const PJRT_TopologyDescription,
        fingerprint: u64,
    }

    /// Arguments of [`PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace`]; sets
    /// `serialized_shape`, `serialized_shape_size` and `serialized_shape_deleter`.
    args PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args (114) {
        topology: *const PJRT_TopologyDescription,
        memory_space_kind_id: c_int,
        dims: *const i64,
        num_dims: usize,
        element_type: PJRT_Buffer_Type,
        layout: *const PJRT_Buffer_MemoryLayout,
        serialized_shape: *const c_char,
        serialized_shape_size: usize,
        serialized_shape_deleter: Option<unsafe extern "C" fn(*const c_char)>,
    }

    /// Arguments of [`PJRT_TopologyDescription_GetMemorySpaceKindIds`]; sets
    /// `memory_space_kind_ids` and `num_memory_space_kind_ids`.
    args PJRT_TopologyDescription_GetMemorySpaceKindIds_Args (114) {
        topology: *const PJRT_TopologyDescription,
        memory_space_kind_ids: *const c_int,
        num_memory_space_kind_ids: usize,
    }
}
