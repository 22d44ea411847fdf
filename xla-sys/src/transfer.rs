//! Transfers piece by piece: managers of several buffers, streams of chunks.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

structs! { "pjrt_c_api.h";
    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_Destroy`].
    args PJRT_AsyncHostToDeviceTransferManager_Destroy_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_TransferData`]; sets
    /// `done_with_h2d_transfer`.
    args PJRT_AsyncHostToDeviceTransferManager_TransferData_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_index: c_int,
        data: *const c_void,
        offset: i64,
        transfer_size: i64,
        is_last_transfer: bool,
        done_with_h2d_transfer: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer`]; sets `buffer_out`.
    args PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_index: c_int,
        buffer_out: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_Device`]; sets `device_out`.
    args PJRT_AsyncHostToDeviceTransferManager_Device_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        device_out: *mut PJRT_Device,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_BufferCount`]; sets `buffer_count`.
    args PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_count: usize,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_BufferSize`]; sets `buffer_size`.
    args PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_index: c_int,
        buffer_size: usize,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_SetBufferError`].
    args PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_index: c_int,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_AddMetadata`].
    args PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args (68) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        transfer_metadata: *const PJRT_NamedValue,
        num_metadata: usize,
    }

    /// Arguments of [`PJRT_AsyncHostToDeviceTransferManager_TransferLiteral`]; sets
    /// `done_with_h2d_transfer`.
    args PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args (90) {
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
        buffer_index: c_int,
        data: *const c_void,
        shape_dims: *const i64,
        shape_num_dims: usize,
        shape_element_type: PJRT_Buffer_Type,
        shape_layout: *mut PJRT_Buffer_MemoryLayout,
        done_with_h2d_transfer: *mut PJRT_Event,
    }

    /// Dimensions and element type of a buffer to make.
    args PJRT_ShapeSpec (68) {
        dims: *const i64,
        num_dims: usize,
        element_type: PJRT_Buffer_Type,
    }

    /// Arguments of [`PJRT_Client_CreateBuffersForAsyncHostToDevice`]; sets `transfer_manager`.
    args PJRT_Client_CreateBuffersForAsyncHostToDevice_Args (68) {
        client: *mut PJRT_Client,
        shape_specs: *mut PJRT_ShapeSpec,
        num_shape_specs: usize,
        device_layouts: *mut *mut PJRT_Buffer_MemoryLayout,
        num_device_layouts: usize,
        memory: *mut PJRT_Memory,
        transfer_manager: *mut PJRT_AsyncHostToDeviceTransferManager,
    }

    /// A piece of host memory that is handed over with its deleter.
    plain PJRT_Chunk (54) {
        data: *mut c_void,
        size: usize,
        deleter: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        deleter_arg: *mut c_void,
    }

    /// Arguments of [`PJRT_CopyToDeviceStream_Destroy`].
    args PJRT_CopyToDeviceStream_Destroy_Args (54) {
        stream: *mut PJRT_CopyToDeviceStream,
    }

    /// Arguments of [`PJRT_CopyToDeviceStream_AddChunk`]; sets `transfer_complete`.
    args PJRT_CopyToDeviceStream_AddChunk_Args (54) {
        stream: *mut PJRT_CopyToDeviceStream,
        chunk: *mut PJRT_Chunk,
        transfer_complete: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_CopyToDeviceStream_TotalBytes`]; sets `total_bytes`.
    args PJRT_CopyToDeviceStream_TotalBytes_Args (54) {
        stream: *mut PJRT_CopyToDeviceStream,
        total_bytes: i64,
    }

    /// Arguments of [`PJRT_CopyToDeviceStream_GranuleSize`]; sets `granule_size_in_bytes`.
    args PJRT_CopyToDeviceStream_GranuleSize_Args (54) {
        stream: *mut PJRT_CopyToDeviceStream,
        granule_size_in_bytes: i64,
    }

    /// Arguments of [`PJRT_CopyToDeviceStream_CurrentBytes`]; sets `current_bytes`.
    args PJRT_CopyToDeviceStream_CurrentBytes_Args (54) {
        stream: *mut PJRT_CopyToDeviceStream,
        current_bytes: i64,
    }
}
