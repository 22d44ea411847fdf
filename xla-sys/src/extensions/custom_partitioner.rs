//! How a custom call is partitioned.

use crate::*;
use core::ffi::{c_char, c_void};

/// Registers how a custom call is to be partitioned.
pub type PJRT_Register_Custom_Partitioner =
    unsafe extern "C" fn(*mut PJRT_Register_Custom_Partitioner_Args) -> *mut PJRT_Error;

/// Marks a custom call as free to split along its batch dimensions.
pub type PJRT_Register_Batch_Partitionable =
    unsafe extern "C" fn(*mut PJRT_Register_Batch_Partitionable_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_custom_partitioner_extension.h";
    /// Text with its length.
    plain JAX_CustomCallPartitioner_string (114) {
        data: *const c_char,
        size: usize,
    }

    /// Shape and sharding of one operand or result.
    plain JAX_CustomCallPartitioner_aval (114) {
        shape: JAX_CustomCallPartitioner_string,
        has_sharding: bool,
        sharding: JAX_CustomCallPartitioner_string,
    }

    /// Head of every partitioner call: version, clean-up, and the error that it may set.
    plain JAX_CustomCallPartitioner_version_and_error (114) {
        api_version: i64,
        data: *mut c_void,
        cleanup_fn: Option<unsafe extern "C" fn(*mut c_void)>,
        has_error: bool,
        code: PJRT_Error_Code,
        error_msg: JAX_CustomCallPartitioner_string,
    }

    /// Asks for the partitioned module and the shardings of a custom call.
    plain JAX_CustomCallPartitioner_Partition_Args (114) {
        header: JAX_CustomCallPartitioner_version_and_error,
        num_args: usize,
        op_args: *mut JAX_CustomCallPartitioner_aval,
        op_result: JAX_CustomCallPartitioner_aval,
        backend_config: JAX_CustomCallPartitioner_string,
        mlir_module: JAX_CustomCallPartitioner_string,
        args_sharding: *mut JAX_CustomCallPartitioner_string,
        result_sharding: JAX_CustomCallPartitioner_string,
    }

    /// Asks for a result's sharding from those of the operands.
    plain JAX_CustomCallPartitioner_InferShardingFromOperands_Args (114) {
        header: JAX_CustomCallPartitioner_version_and_error,
        num_args: usize,
        op_args: *mut JAX_CustomCallPartitioner_aval,
        result_shape: JAX_CustomCallPartitioner_string,
        backend_config: JAX_CustomCallPartitioner_string,
        has_result_sharding: bool,
        result_sharding: JAX_CustomCallPartitioner_string,
    }

    /// Asks how a user's sharding passes through a custom call.
    plain JAX_CustomCallPartitioner_PropagateUserSharding_Args (114) {
        header: JAX_CustomCallPartitioner_version_and_error,
        backend_config: JAX_CustomCallPartitioner_string,
        result_shape: JAX_CustomCallPartitioner_string,
        result_sharding: JAX_CustomCallPartitioner_string,
    }

    /// The caller's functions that partition a custom call.
    plain JAX_CustomCallPartitioner_Callbacks (114) {
        version: i64,
        private_data: *mut c_void,
        dtor: Option<unsafe extern "C" fn(*mut JAX_CustomCallPartitioner_Callbacks)>,
        partition: Option<unsafe extern "C" fn(*mut JAX_CustomCallPartitioner_Callbacks, *mut JAX_CustomCallPartitioner_Partition_Args)>,
        infer_sharding: Option<unsafe extern "C" fn(*mut JAX_CustomCallPartitioner_Callbacks, *mut JAX_CustomCallPartitioner_InferShardingFromOperands_Args)>,
        propagate_user_sharding: Option<unsafe extern "C" fn(*mut JAX_CustomCallPartitioner_Callbacks, *mut JAX_CustomCallPartitioner_PropagateUserSharding_Args)>,
        can_side_effecting_have_replicated_sharding: bool,
    }

    /// Arguments of [`PJRT_Register_Custom_Partitioner`].
    sized PJRT_Register_Custom_Partitioner_Args (114) {
        name: *const c_char,
        name_size: usize,
        callbacks: *mut JAX_CustomCallPartitioner_Callbacks,
    }

    /// Arguments of [`PJRT_Register_Batch_Partitionable`].
    sized PJRT_Register_Batch_Partitionable_Args (114) {
        name: *const c_char,
        name_size: usize,
    }

    /// Extension: partition custom calls.
    extension PJRT_Custom_Partitioner_Extension (114, Custom_Partitioner) {
        register_custom_partitioner: Option<PJRT_Register_Custom_Partitioner>,
        register_batch_partitionable: Option<PJRT_Register_Batch_Partitionable>,
    }
}
