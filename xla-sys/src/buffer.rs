//! Buffers, and the ways to make one.

use crate::*;
use core::ffi::{c_char, c_void};

unions! {
    /// The layout itself; which member holds is said by `type_`.
    PJRT_Buffer_MemoryLayout_Union {
        tiled: PJRT_Buffer_MemoryLayout_Tiled,
        strides: PJRT_Buffer_MemoryLayout_Strides,
    }
}

structs! { "pjrt_c_api.h";
    /// A layout as minor-to-major order and tiles.
    args PJRT_Buffer_MemoryLayout_Tiled (54) {
        minor_to_major: *const i64,
        minor_to_major_size: usize,
        /// The dimensions of all tiles, one tile after the other.
        tile_dims: *const i64,
        tile_dim_sizes: *const usize,
        num_tiles: usize,
    }

    /// A layout as byte strides.
    args PJRT_Buffer_MemoryLayout_Strides (54) {
        byte_strides: *const i64,
        num_byte_strides: usize,
    }

    /// How the elements of an array lie in memory; `type_` says which member of `layout` holds.
    args PJRT_Buffer_MemoryLayout (54) {
        #[anonymous(PJRT_Buffer_MemoryLayout_Union)]
        layout: PJRT_Buffer_MemoryLayout_Union,
        type_: PJRT_Buffer_MemoryLayout_Type,
    }

    /// Arguments of [`PJRT_Client_CreateUninitializedBuffer`]; sets `buffer`.
    args PJRT_Client_CreateUninitializedBuffer_Args (81) {
        client: *mut PJRT_Client,
        shape_dims: *const i64,
        shape_num_dims: usize,
        shape_element_type: PJRT_Buffer_Type,
        shape_layout: *mut PJRT_Buffer_MemoryLayout,
        device: *mut PJRT_Device,
        memory: *mut PJRT_Memory,
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Client_CreateErrorBuffer`]; sets `buffer`.
    args PJRT_Client_CreateErrorBuffer_Args (90) {
        client: *mut PJRT_Client,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
        shape_dims: *const i64,
        shape_num_dims: usize,
        shape_element_type: PJRT_Buffer_Type,
        shape_layout: *mut PJRT_Buffer_MemoryLayout,
        memory: *mut PJRT_Memory,
        buffer: *mut PJRT_Buffer,
        #[since = 114]
        payload: *const PJRT_NamedValue,
        #[since = 114]
        num_payload: usize,
    }

    /// Arguments of [`PJRT_Client_CreateAliasBuffer`]; sets `alias_buffer` and
    /// `fulfill_alias_buffer_cb`.
    args PJRT_Client_CreateAliasBuffer_Args (81) {
        client: *mut PJRT_Client,
        memory: *mut PJRT_Memory,
        shape_dims: *const i64,
        shape_num_dims: usize,
        shape_element_type: PJRT_Buffer_Type,
        shape_layout: *mut PJRT_Buffer_MemoryLayout,
        alias_buffer: *mut PJRT_Buffer,
        fulfill_alias_buffer_cb: *mut PJRT_FulfillAliasBufferCallback,
    }

    /// Arguments of [`PJRT_Client_FulfillAliasBuffer`].
    args PJRT_Client_FulfillAliasBuffer_Args (81) {
        client: *mut PJRT_Client,
        buffer: *mut PJRT_Buffer,
        status_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
        fulfill_alias_buffer_cb: *mut PJRT_FulfillAliasBufferCallback,
    }

    /// Arguments of [`PJRT_Client_BufferFromHostBuffer`]; sets `done_with_host_buffer` and
    /// `buffer`.
    args PJRT_Client_BufferFromHostBuffer_Args (54) {
        client: *mut PJRT_Client,
        data: *const c_void,
        type_: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        /// Null for a dense array in row-major order.
        byte_strides: *const i64,
        num_byte_strides: usize,
        host_buffer_semantics: PJRT_HostBufferSemantics,
        /// Where to; ignored if `memory` isn't null.
        device: *mut PJRT_Device,
        memory: *mut PJRT_Memory,
        /// Null for the layout that the plugin prefers.
        device_layout: *mut PJRT_Buffer_MemoryLayout,
        /// Done once `data` may change or go.
        done_with_host_buffer: *mut PJRT_Event,
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Client_CreateViewOfDeviceBuffer`]; sets `buffer`.
    args PJRT_Client_CreateViewOfDeviceBuffer_Args (54) {
        client: *mut PJRT_Client,
        device_buffer_ptr: *mut c_void,
        dims: *const i64,
        num_dims: usize,
        element_type: PJRT_Buffer_Type,
        layout: *mut PJRT_Buffer_MemoryLayout,
        device: *mut PJRT_Device,
        on_delete_callback: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        on_delete_callback_arg: *mut c_void,
        stream: isize,
        buffer: *mut PJRT_Buffer,
        #[since = 68]
        memory: *mut PJRT_Memory,
    }

    /// Arguments of [`PJRT_Buffer_Destroy`].
    args PJRT_Buffer_Destroy_Args (54) {
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_ElementType`]; sets `type_`.
    args PJRT_Buffer_ElementType_Args (54) {
        buffer: *mut PJRT_Buffer,
        type_: PJRT_Buffer_Type,
    }

    /// Arguments of [`PJRT_Buffer_Dimensions`]; sets `dims` and `num_dims`.
    args PJRT_Buffer_Dimensions_Args (54) {
        buffer: *mut PJRT_Buffer,
        dims: *const i64,
        num_dims: usize,
    }

    /// Arguments of [`PJRT_Buffer_UnpaddedDimensions`]; sets `unpadded_dims` and `num_dims`.
    args PJRT_Buffer_UnpaddedDimensions_Args (54) {
        buffer: *mut PJRT_Buffer,
        unpadded_dims: *const i64,
        num_dims: usize,
    }

    /// Arguments of [`PJRT_Buffer_DynamicDimensionIndices`]; sets `dynamic_dim_indices` and
    /// `num_dynamic_dims`.
    args PJRT_Buffer_DynamicDimensionIndices_Args (54) {
        buffer: *mut PJRT_Buffer,
        dynamic_dim_indices: *const usize,
        num_dynamic_dims: usize,
    }

    /// Arguments of [`PJRT_Buffer_GetMemoryLayout`]; sets `layout`.
    args PJRT_Buffer_GetMemoryLayout_Args (54) {
        buffer: *mut PJRT_Buffer,
        layout: PJRT_Buffer_MemoryLayout,
    }

    /// Arguments of [`PJRT_Buffer_ToHostBuffer`]; sets `event`.
    args PJRT_Buffer_ToHostBuffer_Args (54) {
        src: *mut PJRT_Buffer,
        /// Null for the layout of the buffer itself.
        host_layout: *mut PJRT_Buffer_MemoryLayout,
        /// Null to be told `dst_size` and nothing else.
        dst: *mut c_void,
        dst_size: usize,
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Buffer_OnDeviceSizeInBytes`]; sets `on_device_size_in_bytes`.
    args PJRT_Buffer_OnDeviceSizeInBytes_Args (54) {
        buffer: *mut PJRT_Buffer,
        on_device_size_in_bytes: usize,
    }

    /// Arguments of [`PJRT_Buffer_Delete`].
    args PJRT_Buffer_Delete_Args (54) {
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_IsDeleted`]; sets `is_deleted`.
    args PJRT_Buffer_IsDeleted_Args (54) {
        buffer: *mut PJRT_Buffer,
        is_deleted: bool,
    }

    /// Arguments of [`PJRT_Buffer_CopyRawToHost`]; sets `event`.
    args PJRT_Buffer_CopyRawToHost_Args (68) {
        buffer: *mut PJRT_Buffer,
        dst: *mut c_void,
        offset: i64,
        transfer_size: i64,
        event: *mut PJRT_Event,
    }

    /// How the caller later names the host address, or an error, for
    /// [`PJRT_Buffer_CopyRawToHostFuture`].
    sized PJRT_Buffer_CopyRawToHostFuture_Callback_Args (90) {
        callback_data: *mut c_void,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
        dst: *mut c_void,
    }

    /// Arguments of [`PJRT_Buffer_CopyRawToHostFuture`]; sets `event`, `callback_data` and
    /// `future_ready_callback`.
    args PJRT_Buffer_CopyRawToHostFuture_Args (90) {
        buffer: *mut PJRT_Buffer,
        offset: i64,
        transfer_size: i64,
        event: *mut PJRT_Event,
        callback_data: *mut c_void,
        future_ready_callback: Option<unsafe extern "C" fn(*mut PJRT_Buffer_CopyRawToHostFuture_Callback_Args)>,
    }

    /// Arguments of [`PJRT_Buffer_CopyToDevice`]; sets `dst_buffer`.
    args PJRT_Buffer_CopyToDevice_Args (54) {
        buffer: *mut PJRT_Buffer,
        dst_device: *mut PJRT_Device,
        dst_buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_CopyToMemory`]; sets `dst_buffer`.
    args PJRT_Buffer_CopyToMemory_Args (54) {
        buffer: *mut PJRT_Buffer,
        dst_memory: *mut PJRT_Memory,
        dst_buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_Bitcast`]; sets `out_buffer`.
    args PJRT_Buffer_Bitcast_Args (114) {
        buffer: *mut PJRT_Buffer,
        element_type: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        device_layout: *mut PJRT_Buffer_MemoryLayout,
        out_buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_IsOnCpu`]; sets `is_on_cpu`.
    args PJRT_Buffer_IsOnCpu_Args (54) {
        buffer: *mut PJRT_Buffer,
        is_on_cpu: bool,
    }

    /// Arguments of [`PJRT_Buffer_Device`]; sets `device`.
    args PJRT_Buffer_Device_Args (54) {
        buffer: *mut PJRT_Buffer,
        device: *mut PJRT_Device,
    }

    /// Arguments of [`PJRT_Buffer_Memory`]; sets `memory`.
    args PJRT_Buffer_Memory_Args (54) {
        buffer: *mut PJRT_Buffer,
        memory: *mut PJRT_Memory,
    }

    /// Arguments of [`PJRT_Buffer_ReadyEvent`]; sets `event`.
    args PJRT_Buffer_ReadyEvent_Args (54) {
        buffer: *mut PJRT_Buffer,
        event: *mut PJRT_Event,
    }

    /// Arguments of [`PJRT_Buffer_UnsafePointer`]; sets `buffer_pointer`.
    args PJRT_Buffer_UnsafePointer_Args (54) {
        buffer: *mut PJRT_Buffer,
        buffer_pointer: usize,
    }

    /// Arguments of [`PJRT_Buffer_IncreaseExternalReferenceCount`].
    args PJRT_Buffer_IncreaseExternalReferenceCount_Args (54) {
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_DecreaseExternalReferenceCount`].
    args PJRT_Buffer_DecreaseExternalReferenceCount_Args (54) {
        buffer: *mut PJRT_Buffer,
    }

    /// Arguments of [`PJRT_Buffer_OpaqueDeviceMemoryDataPointer`]; sets `device_memory_ptr`.
    args PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args (54) {
        buffer: *mut PJRT_Buffer,
        device_memory_ptr: *mut c_void,
    }

    /// How the caller later reports the dependency of [`PJRT_Buffer_DonateWithControlDependency`].
    sized PJRT_Buffer_DonateWithControlDependency_Callback_Args (90) {
        callback_data: *mut c_void,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
    }

    /// Arguments of [`PJRT_Buffer_DonateWithControlDependency`]; sets `callback_data`,
    /// `dependency_ready_callback` and `out_buffer`.
    args PJRT_Buffer_DonateWithControlDependency_Args (90) {
        buffer: *mut PJRT_Buffer,
        callback_data: *mut c_void,
        dependency_ready_callback: Option<unsafe extern "C" fn(*mut PJRT_Buffer_DonateWithControlDependency_Callback_Args)>,
        out_buffer: *mut PJRT_Buffer,
    }
}
