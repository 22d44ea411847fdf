//! Programs: compile, load, run, ask.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Receives a chunk that a program sends to the host.
pub type PJRT_SendCallback = Option<
    unsafe extern "C" fn(
        *mut PJRT_Chunk,
        *mut PJRT_CallbackError,
        usize,
        bool,
        *mut c_void,
    ) -> *mut PJRT_Error,
>;

/// Asked to fill a stream with data that a program receives from the host.
pub type PJRT_RecvCallback =
    Option<unsafe extern "C" fn(*mut PJRT_CopyToDeviceStream, *mut c_void)>;

/// Shown an operand that a running program reports.
pub type PJRT_HloOutputCallback = Option<
    unsafe extern "C" fn(
        i64,
        i64,
        *const c_void,
        *const i64,
        usize,
        PJRT_Buffer_Type,
        i64,
        *mut c_void,
    ),
>;

structs! { "pjrt_c_api.h";
    /// A program to compile, or the place for one that is read back.
    args PJRT_Program (54) {
        code: *mut c_char,
        code_size: usize,
        /// What `code` is: `mlir`, `hlo` or `hlo_with_config`.
        format: *const c_char,
        format_size: usize,
    }

    /// Arguments of [`PJRT_Client_Compile`]; sets `executable`.
    args PJRT_Client_Compile_Args (54) {
        client: *mut PJRT_Client,
        program: *const PJRT_Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        executable: *mut PJRT_LoadedExecutable,
    }

    /// Arguments of [`PJRT_Client_Load`]; sets `loaded_executable`.
    args PJRT_Client_Load_Args (114) {
        client: *mut PJRT_Client,
        executable: *mut PJRT_Executable,
        compile_options: *const c_char,
        compile_options_size: usize,
        loaded_executable: *mut PJRT_LoadedExecutable,
    }

    /// Arguments of [`PJRT_ExecuteContext_Create`]; sets `context`.
    args PJRT_ExecuteContext_Create_Args (54) {
        context: *mut PJRT_ExecuteContext,
    }

    /// Arguments of [`PJRT_ExecuteContext_Destroy`].
    args PJRT_ExecuteContext_Destroy_Args (54) {
        context: *mut PJRT_ExecuteContext,
    }

    /// Arguments of [`PJRT_Executable_Destroy`].
    args PJRT_Executable_Destroy_Args (54) {
        executable: *mut PJRT_Executable,
    }

    /// Arguments of [`PJRT_LoadedExecutable_Destroy`].
    args PJRT_LoadedExecutable_Destroy_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
    }

    /// Arguments of [`PJRT_LoadedExecutable_GetExecutable`]; sets `executable`.
    args PJRT_LoadedExecutable_GetExecutable_Args (54) {
        loaded_executable: *mut PJRT_LoadedExecutable,
        executable: *mut PJRT_Executable,
    }

    /// Arguments of [`PJRT_LoadedExecutable_GetDeviceAssignment`]; sets `serialized_bytes`,
    /// `serialized_bytes_size`, `serialized_device_assignment` and
    /// `serialized_device_assignment_deleter`.
    args PJRT_LoadedExecutable_GetDeviceAssignment_Args (81) {
        executable: *mut PJRT_LoadedExecutable,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_device_assignment: *mut PJRT_DeviceAssignmentSerialized,
        serialized_device_assignment_deleter: Option<unsafe extern "C" fn(*mut PJRT_DeviceAssignmentSerialized)>,
    }

    /// Arguments of [`PJRT_Executable_Name`]; sets `executable_name` and `executable_name_size`.
    args PJRT_Executable_Name_Args (54) {
        executable: *mut PJRT_Executable,
        executable_name: *const c_char,
        executable_name_size: usize,
    }

    /// Arguments of [`PJRT_Executable_NumReplicas`]; sets `num_replicas`.
    args PJRT_Executable_NumReplicas_Args (54) {
        executable: *mut PJRT_Executable,
        num_replicas: usize,
    }

    /// Arguments of [`PJRT_Executable_NumPartitions`]; sets `num_partitions`.
    args PJRT_Executable_NumPartitions_Args (54) {
        executable: *mut PJRT_Executable,
        num_partitions: usize,
    }

    /// Replica and partition that a device plays in a program.
    plain PJRT_LogicalDeviceIds (114) {
        replica: c_int,
        partition: c_int,
    }

    /// Arguments of [`PJRT_LoadedExecutable_AddressableDevices`]; sets `addressable_devices` and
    /// `num_addressable_devices`.
    args PJRT_LoadedExecutable_AddressableDevices_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
        addressable_devices: *const *mut PJRT_Device,
        num_addressable_devices: usize,
    }

    /// Arguments of [`PJRT_LoadedExecutable_AddressableDeviceLogicalIds`]; sets
    /// `addressable_device_logical_ids` and `num_addressable_device_logical_ids`.
    args PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args (114) {
        executable: *mut PJRT_LoadedExecutable,
        addressable_device_logical_ids: *mut PJRT_LogicalDeviceIds,
        num_addressable_device_logical_ids: usize,
    }

    /// Arguments of [`PJRT_Executable_OptimizedProgram`]; sets `program`.
    args PJRT_Executable_OptimizedProgram_Args (54) {
        executable: *mut PJRT_Executable,
        /// With a null `code`, only its `code_size` is set.
        program: *mut PJRT_Program,
    }

    /// Arguments of [`PJRT_LoadedExecutable_Delete`].
    args PJRT_LoadedExecutable_Delete_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
    }

    /// Arguments of [`PJRT_LoadedExecutable_IsDeleted`]; sets `is_deleted`.
    args PJRT_LoadedExecutable_IsDeleted_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
        is_deleted: bool,
    }

    /// The host's end of one channel that a program sends on.
    plain PJRT_SendCallbackInfo (54) {
        channel_id: i64,
        user_arg: *mut c_void,
        send_callback: PJRT_SendCallback,
    }

    /// The host's end of one channel that a program receives on.
    plain PJRT_RecvCallbackInfo (54) {
        channel_id: i64,
        user_arg: *mut c_void,
        recv_callback: PJRT_RecvCallback,
    }

    /// A callback for operands that a running program reports.
    plain PJRT_HloOutputCallbackInfo (114) {
        user_arg: *mut c_void,
        callback: PJRT_HloOutputCallback,
        callback_id: i64,
        num_operands: usize,
    }

    /// Options of one run.
    args PJRT_ExecuteOptions (54) {
        send_callbacks: *mut *mut PJRT_SendCallbackInfo,
        recv_callbacks: *mut *mut PJRT_RecvCallbackInfo,
        num_send_ops: usize,
        num_recv_ops: usize,
        /// A number that tells runs apart; it has to be the same on all hosts of a run.
        launch_id: c_int,
        /// Arguments that stay the caller's although the program says that it donates them.
        non_donatable_input_indices: *const i64,
        num_non_donatable_input_indices: usize,
        #[since = 68]
        context: *mut PJRT_ExecuteContext,
        /// Where in the source the call is, NUL-terminated, for messages.
        #[since = 81]
        call_location: *const c_char,
        #[since = 81]
        num_tasks: usize,
        #[since = 81]
        task_ids: *mut c_int,
        #[since = 81]
        incarnation_ids: *mut i64,
        #[since = 114]
        multi_slice_config: *mut PJRT_MultiSlice_Config,
        #[since = 114]
        use_major_to_minor_data_layout_for_callbacks: bool,
        #[since = 114]
        hlo_output_callbacks: *mut PJRT_HloOutputCallbackInfo,
        #[since = 114]
        num_hlo_output_callbacks: usize,
    }

    /// Arguments of [`PJRT_LoadedExecutable_Execute`]; sets `output_lists` and
    /// `device_complete_events`.
    args PJRT_LoadedExecutable_Execute_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
        options: *mut PJRT_ExecuteOptions,
        /// A list of `num_args` buffers for each of `num_devices` devices.
        argument_lists: *const *const *mut PJRT_Buffer,
        num_devices: usize,
        num_args: usize,
        /// A list for each device, as long as the program has results, which the call fills.
        output_lists: *const *mut *mut PJRT_Buffer,
        /// Null, or a place for one event a device, which the call fills.
        device_complete_events: *mut *mut PJRT_Event,
        /// Null, or the one device to run on, for a program compiled for no device in particular.
        execute_device: *mut PJRT_Device,
    }

    /// Arguments of [`PJRT_Executable_NumOutputs`]; sets `num_outputs`.
    args PJRT_Executable_NumOutputs_Args (54) {
        executable: *mut PJRT_Executable,
        num_outputs: usize,
    }

    /// Arguments of [`PJRT_Executable_SizeOfGeneratedCodeInBytes`]; sets `size_in_bytes`.
    args PJRT_Executable_SizeOfGeneratedCodeInBytes_Args (54) {
        executable: *mut PJRT_Executable,
        size_in_bytes: i64,
    }

    /// Arguments of [`PJRT_Executable_Fingerprint`]; sets `executable_fingerprint` and
    /// `executable_fingerprint_size`.
    args PJRT_Executable_Fingerprint_Args (54) {
        executable: *mut PJRT_Executable,
        executable_fingerprint: *const c_char,
        executable_fingerprint_size: usize,
    }

    /// Arguments of [`PJRT_Executable_GetCostAnalysis`]; sets `num_properties` and `properties`.
    args PJRT_Executable_GetCostAnalysis_Args (54) {
        executable: *mut PJRT_Executable,
        num_properties: usize,
        properties: *const PJRT_NamedValue,
    }

    /// Arguments of [`PJRT_Executable_GetCompiledMemoryStats`]; sets every field after the handle.
    args PJRT_Executable_GetCompiledMemoryStats_Args (54) {
        executable: *mut PJRT_Executable,
        generated_code_size_in_bytes: i64,
        argument_size_in_bytes: i64,
        output_size_in_bytes: i64,
        alias_size_in_bytes: i64,
        temp_size_in_bytes: i64,
        host_generated_code_size_in_bytes: i64,
        host_argument_size_in_bytes: i64,
        host_output_size_in_bytes: i64,
        host_alias_size_in_bytes: i64,
        host_temp_size_in_bytes: i64,
        #[since = 81]
        peak_memory_in_bytes: i64,
        #[since = 90]
        total_size_in_bytes: i64,
        #[since = 114]
        total_allocation_bytes: i64,
        #[since = 114]
        indefinite_allocations: i64,
        #[since = 114]
        peak_unpadded_heap_bytes: i64,
    }

    /// Arguments of [`PJRT_Executable_OutputElementTypes`]; sets `output_types` and
    /// `num_output_types`.
    args PJRT_Executable_OutputElementTypes_Args (54) {
        executable: *mut PJRT_Executable,
        output_types: *mut PJRT_Buffer_Type,
        num_output_types: usize,
    }

    /// Arguments of [`PJRT_Executable_OutputDimensions`]; sets `num_outputs`, `dims` and
    /// `dim_sizes`.
    args PJRT_Executable_OutputDimensions_Args (54) {
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        dims: *const i64,
        /// The rank of each result: how many of `dims` are its.
        dim_sizes: *const usize,
    }

    /// Arguments of [`PJRT_Executable_ParameterMemoryKinds`]; sets `num_parameters`, `memory_kinds`
    /// and `memory_kind_sizes`.
    args PJRT_Executable_ParameterMemoryKinds_Args (114) {
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        memory_kinds: *const *const c_char,
        memory_kind_sizes: *const usize,
    }

    /// Arguments of [`PJRT_Executable_OutputMemoryKinds`]; sets `num_outputs`, `memory_kinds` and
    /// `memory_kind_sizes`.
    args PJRT_Executable_OutputMemoryKinds_Args (54) {
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        memory_kinds: *const *const c_char,
        memory_kind_sizes: *const usize,
    }

    /// Arguments of [`PJRT_Executable_Serialize`]; sets `serialized_bytes`,
    /// `serialized_bytes_size`, `serialized_executable` and `serialized_executable_deleter`.
    args PJRT_Executable_Serialize_Args (54) {
        executable: *const PJRT_Executable,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_executable: *mut PJRT_SerializedExecutable,
        serialized_executable_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedExecutable)>,
    }

    /// Arguments of [`PJRT_Executable_GetCompileOptions`]; sets `serialized_bytes`,
    /// `serialized_bytes_size`, `serialized_compile_options` and
    /// `serialized_compile_options_deleter`.
    args PJRT_Executable_GetCompileOptions_Args (90) {
        executable: *mut PJRT_Executable,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_compile_options: *mut PJRT_SerializedCompileOptions,
        serialized_compile_options_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedCompileOptions)>,
    }

    /// Options of loading a serialised program.
    sized PJRT_LoadOptions (114) {
        computation_origin: *const i32,
        computation_origin_size: usize,
        multi_slice_config: *mut PJRT_MultiSlice_Config,
    }

    /// Arguments of [`PJRT_Executable_DeserializeAndLoad`]; sets `loaded_executable`.
    args PJRT_Executable_DeserializeAndLoad_Args (54) {
        client: *mut PJRT_Client,
        serialized_executable: *const c_char,
        serialized_executable_size: usize,
        loaded_executable: *mut PJRT_LoadedExecutable,
        #[since = 81]
        overridden_serialized_compile_options: *const c_char,
        #[since = 81]
        overridden_serialized_compile_options_size: usize,
        #[since = 114]
        load_options: *mut PJRT_LoadOptions,
    }

    /// Arguments of [`PJRT_LoadedExecutable_Fingerprint`]; sets `executable_fingerprint` and
    /// `executable_fingerprint_size`.
    args PJRT_LoadedExecutable_Fingerprint_Args (54) {
        executable: *mut PJRT_LoadedExecutable,
        executable_fingerprint: *const c_char,
        executable_fingerprint_size: usize,
    }

    /// Arguments of [`PJRT_Compile`]; sets `executable`.
    args PJRT_Compile_Args (54) {
        topology: *const PJRT_TopologyDescription,
        program: *const PJRT_Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        client: *mut PJRT_Client,
        executable: *mut PJRT_Executable,
    }
}
