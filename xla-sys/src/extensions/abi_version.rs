//! Which programs a runtime can run.

use crate::*;
use core::ffi::c_char;

/// The ABI version of a client's runtime.
pub type PJRT_Client_RuntimeAbiVersion =
    unsafe extern "C" fn(*mut PJRT_Client_RuntimeAbiVersion_Args) -> *mut PJRT_Error;

/// The ABI version that a compiled program needs.
pub type PJRT_Executable_GetAbiVersion =
    unsafe extern "C" fn(*mut PJRT_Executable_GetAbiVersion_Args) -> *mut PJRT_Error;

/// Frees a runtime version.
pub type PJRT_RuntimeAbiVersion_Destroy =
    unsafe extern "C" fn(*mut PJRT_RuntimeAbiVersion_Destroy_Args) -> *mut PJRT_Error;

/// Succeeds if two runtimes are compatible.
pub type PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime = unsafe extern "C" fn(
    *mut PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args,
) -> *mut PJRT_Error;

/// Succeeds if a runtime can run such a program.
pub type PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable =
    unsafe extern "C" fn(
        *mut PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args,
    ) -> *mut PJRT_Error;

/// A runtime version as a serialised message.
pub type PJRT_RuntimeAbiVersion_ToProto =
    unsafe extern "C" fn(*mut PJRT_RuntimeAbiVersion_ToProto_Args) -> *mut PJRT_Error;

/// Number of the platform of a runtime version.
pub type PJRT_RuntimeAbiVersion_PlatformId =
    unsafe extern "C" fn(*mut PJRT_RuntimeAbiVersion_PlatformId_Args) -> *mut PJRT_Error;

/// Frees a program's version.
pub type PJRT_ExecutableAbiVersion_Destroy =
    unsafe extern "C" fn(*mut PJRT_ExecutableAbiVersion_Destroy_Args) -> *mut PJRT_Error;

/// A program's version as a serialised message.
pub type PJRT_ExecutableAbiVersion_ToProto =
    unsafe extern "C" fn(*mut PJRT_ExecutableAbiVersion_ToProto_Args) -> *mut PJRT_Error;

/// Number of the platform of a program's version.
pub type PJRT_ExecutableAbiVersion_PlatformId =
    unsafe extern "C" fn(*mut PJRT_ExecutableAbiVersion_PlatformId_Args) -> *mut PJRT_Error;

/// Reads a runtime version from a serialised message.
pub type PJRT_RuntimeAbiVersion_FromProto =
    unsafe extern "C" fn(*mut PJRT_RuntimeAbiVersion_FromProto_Args) -> *mut PJRT_Error;

/// Reads a program's version from a serialised message.
pub type PJRT_ExecutableAbiVersion_FromProto =
    unsafe extern "C" fn(*mut PJRT_ExecutableAbiVersion_FromProto_Args) -> *mut PJRT_Error;

structs! { "pjrt_c_api_abi_version_extension.h";
    /// Arguments of [`PJRT_Client_RuntimeAbiVersion`]; sets `abi_version`.
    sized PJRT_Client_RuntimeAbiVersion_Args (114) {
        client: *mut PJRT_Client,
        abi_version: *mut PJRT_RuntimeAbiVersion,
    }

    /// Arguments of [`PJRT_Executable_GetAbiVersion`]; sets `abi_version`.
    sized PJRT_Executable_GetAbiVersion_Args (114) {
        executable: *mut PJRT_Executable,
        abi_version: *mut PJRT_ExecutableAbiVersion,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_Destroy`].
    sized PJRT_RuntimeAbiVersion_Destroy_Args (114) {
        abi_version: *mut PJRT_RuntimeAbiVersion,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime`].
    sized PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args (114) {
        abi_version: *const PJRT_RuntimeAbiVersion,
        other_abi_version: *const PJRT_RuntimeAbiVersion,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable`].
    sized PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args (114) {
        abi_version: *const PJRT_RuntimeAbiVersion,
        executable_abi_version: *const PJRT_ExecutableAbiVersion,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_ToProto`]; sets `serialized_proto`,
    /// `serialized_proto_size`, `serialized_proto_holder` and `serialized_proto_deleter`.
    sized PJRT_RuntimeAbiVersion_ToProto_Args (114) {
        abi_version: *const PJRT_RuntimeAbiVersion,
        serialized_proto: *const c_char,
        serialized_proto_size: usize,
        serialized_proto_holder: *mut PJRT_SerializedProto,
        serialized_proto_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedProto)>,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_PlatformId`]; sets `platform_id`.
    sized PJRT_RuntimeAbiVersion_PlatformId_Args (114) {
        abi_version: *const PJRT_RuntimeAbiVersion,
        platform_id: u64,
    }

    /// Arguments of [`PJRT_ExecutableAbiVersion_Destroy`].
    sized PJRT_ExecutableAbiVersion_Destroy_Args (114) {
        abi_version: *mut PJRT_ExecutableAbiVersion,
    }

    /// Arguments of [`PJRT_ExecutableAbiVersion_ToProto`]; sets `serialized_proto`,
    /// `serialized_proto_size`, `serialized_proto_holder` and `serialized_proto_deleter`.
    sized PJRT_ExecutableAbiVersion_ToProto_Args (114) {
        abi_version: *const PJRT_ExecutableAbiVersion,
        serialized_proto: *const c_char,
        serialized_proto_size: usize,
        serialized_proto_holder: *mut PJRT_SerializedProto,
        serialized_proto_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedProto)>,
    }

    /// Arguments of [`PJRT_ExecutableAbiVersion_PlatformId`]; sets `platform_id`.
    sized PJRT_ExecutableAbiVersion_PlatformId_Args (114) {
        abi_version: *const PJRT_ExecutableAbiVersion,
        platform_id: u64,
    }

    /// Arguments of [`PJRT_RuntimeAbiVersion_FromProto`]; sets `abi_version`.
    sized PJRT_RuntimeAbiVersion_FromProto_Args (114) {
        serialized_proto: *const c_char,
        serialized_proto_size: usize,
        abi_version: *mut PJRT_RuntimeAbiVersion,
    }

    /// Arguments of [`PJRT_ExecutableAbiVersion_FromProto`]; sets `abi_version`.
    sized PJRT_ExecutableAbiVersion_FromProto_Args (114) {
        serialized_proto: *const c_char,
        serialized_proto_size: usize,
        abi_version: *mut PJRT_ExecutableAbiVersion,
    }

    /// Extension: ask which programs a runtime can run.
    extension PJRT_AbiVersion_Extension (114, AbiVersion) {
        client_runtime_abi_version: Option<PJRT_Client_RuntimeAbiVersion>,
        executable_get_abi_version: Option<PJRT_Executable_GetAbiVersion>,
        runtime_abi_version_destroy: Option<PJRT_RuntimeAbiVersion_Destroy>,
        runtime_abi_version_is_compatible_with_runtime: Option<PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime>,
        runtime_abi_version_is_compatible_with_executable: Option<PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable>,
        runtime_abi_version_to_proto: Option<PJRT_RuntimeAbiVersion_ToProto>,
        runtime_abi_version_platform_id: Option<PJRT_RuntimeAbiVersion_PlatformId>,
        executable_abi_version_destroy: Option<PJRT_ExecutableAbiVersion_Destroy>,
        executable_abi_version_to_proto: Option<PJRT_ExecutableAbiVersion_ToProto>,
        executable_abi_version_platform_id: Option<PJRT_ExecutableAbiVersion_PlatformId>,
        runtime_abi_version_from_proto: Option<PJRT_RuntimeAbiVersion_FromProto>,
        executable_abi_version_from_proto: Option<PJRT_ExecutableAbiVersion_FromProto>,
    }
}
