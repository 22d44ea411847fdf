//! Memories of described devices.

use crate::*;
use core::ffi::{c_char, c_int};

/// The memories that a described device will have.
pub type PJRT_DeviceDescription_MemoryDescriptions =
    unsafe extern "C" fn(*mut PJRT_DeviceDescription_MemoryDescriptions_Args) -> *mut PJRT_Error;

/// The kind of a described memory, as text and as a number.
pub type PJRT_MemoryDescription_Kind =
    unsafe extern "C" fn(*mut PJRT_MemoryDescription_Kind_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_memory_descriptions_extension.h";
    /// Arguments of [`PJRT_DeviceDescription_MemoryDescriptions`]; sets `memory_descriptions`,
    /// `num_memory_descriptions` and `default_memory_index`.
    args PJRT_DeviceDescription_MemoryDescriptions_Args (114) {
        device_description: *mut PJRT_DeviceDescription,
        memory_descriptions: *const *const PJRT_MemoryDescription,
        num_memory_descriptions: usize,
        default_memory_index: usize,
    }

    /// Arguments of [`PJRT_MemoryDescription_Kind`]; sets `kind`, `kind_size` and `kind_id`.
    args PJRT_MemoryDescription_Kind_Args (114) {
        memory_description: *const PJRT_MemoryDescription,
        kind: *const c_char,
        kind_size: usize,
        kind_id: c_int,
    }

    /// Extension: the memories of described devices.
    extension PJRT_MemoryDescriptions_Extension (114, MemoryDescriptions) {
        PJRT_DeviceDescription_MemoryDescriptions: Option<PJRT_DeviceDescription_MemoryDescriptions>,
        PJRT_MemoryDescription_Kind: Option<PJRT_MemoryDescription_Kind>,
    }
}
