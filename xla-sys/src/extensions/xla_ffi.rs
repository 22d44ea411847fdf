//! XLA's typed FFI: what a custom call sees.

use crate::*;
use core::ffi::{c_char, c_int, c_void};

/// Makes an error to return from a handler.
pub type XLA_FFI_Error_Create =
    unsafe extern "C" fn(*mut XLA_FFI_Error_Create_Args) -> *mut XLA_FFI_Error;

/// Lends the text of an error. Returns nothing.
pub type XLA_FFI_Error_GetMessage = unsafe extern "C" fn(*mut XLA_FFI_Error_GetMessage_Args);

/// Frees an error. Returns nothing.
pub type XLA_FFI_Error_Destroy = unsafe extern "C" fn(*mut XLA_FFI_Error_Destroy_Args);

/// Makes a future, for a handler that ends later.
pub type XLA_FFI_Future_Create =
    unsafe extern "C" fn(*mut XLA_FFI_Future_Create_Args) -> *mut XLA_FFI_Error;

/// Ends a future well.
pub type XLA_FFI_Future_SetAvailable =
    unsafe extern "C" fn(*mut XLA_FFI_Future_SetAvailable_Args) -> *mut XLA_FFI_Error;

/// Ends a future with an error.
pub type XLA_FFI_Future_SetError =
    unsafe extern "C" fn(*mut XLA_FFI_Future_SetError_Args) -> *mut XLA_FFI_Error;

/// A custom call's handler: reads the frame, returns null or an error.
pub type XLA_FFI_Handler = unsafe extern "C" fn(*mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error;

/// Bits of [`XLA_FFI_Handler_TraitsBits`].
pub type XLA_FFI_Handler_Traits = u32;

/// Registers the handlers of a custom call.
pub type XLA_FFI_Handler_Register =
    unsafe extern "C" fn(*mut XLA_FFI_Handler_Register_Args) -> *mut XLA_FFI_Error;

/// Registers a type of user data.
pub type XLA_FFI_Type_Register =
    unsafe extern "C" fn(*mut XLA_FFI_Type_Register_Args) -> *mut XLA_FFI_Error;

/// Finds user data of the run by its type.
pub type XLA_FFI_ExecutionContext_Get =
    unsafe extern "C" fn(*mut XLA_FFI_ExecutionContext_Get_Args) -> *mut XLA_FFI_Error;

/// Keeps state for a stage of this call site.
pub type XLA_FFI_State_Set =
    unsafe extern "C" fn(*mut XLA_FFI_State_Set_Args) -> *mut XLA_FFI_Error;

/// Finds the state kept for a stage of this call site.
pub type XLA_FFI_State_Get =
    unsafe extern "C" fn(*mut XLA_FFI_State_Get_Args) -> *mut XLA_FFI_Error;

/// The platform's stream that the call runs on.
pub type XLA_FFI_Stream_Get =
    unsafe extern "C" fn(*mut XLA_FFI_Stream_Get_Args) -> *mut XLA_FFI_Error;

/// Takes scratch memory on the device.
pub type XLA_FFI_DeviceMemory_Allocate =
    unsafe extern "C" fn(*mut XLA_FFI_DeviceMemory_Allocate_Args) -> *mut XLA_FFI_Error;

/// Gives scratch memory back.
pub type XLA_FFI_DeviceMemory_Free =
    unsafe extern "C" fn(*mut XLA_FFI_DeviceMemory_Free_Args) -> *mut XLA_FFI_Error;

/// A task for the runtime's threads.
pub type XLA_FFI_Task = unsafe extern "C" fn(*mut c_void);

/// Runs a task on the runtime's threads.
pub type XLA_FFI_ThreadPool_Schedule =
    unsafe extern "C" fn(*mut XLA_FFI_ThreadPool_Schedule_Args) -> *mut XLA_FFI_Error;

/// How many threads the runtime has.
pub type XLA_FFI_ThreadPool_NumThreads =
    unsafe extern "C" fn(*mut XLA_FFI_ThreadPool_NumThreads_Args) -> *mut XLA_FFI_Error;

/// Number of this run.
pub type XLA_FFI_RunId_Get =
    unsafe extern "C" fn(*mut XLA_FFI_RunId_Get_Args) -> *mut XLA_FFI_Error;

/// Ordinal of the device that the call runs on.
pub type XLA_FFI_DeviceOrdinal_Get =
    unsafe extern "C" fn(*mut XLA_FFI_DeviceOrdinal_Get_Args) -> *mut XLA_FFI_Error;

enums! { "c_api.h";
    /// Which extension of the FFI a list element is.
    XLA_FFI_Extension_Type "XLA_FFI_Extension_" (114) {
        Metadata = 1,
    }

    /// Status codes of the FFI, the same numbers as [`PJRT_Error_Code`](crate::PJRT_Error_Code).
    XLA_FFI_Error_Code "XLA_FFI_Error_Code_" (114) {
        OK = 0,
        CANCELLED = 1,
        UNKNOWN = 2,
        INVALID_ARGUMENT = 3,
        DEADLINE_EXCEEDED = 4,
        NOT_FOUND = 5,
        ALREADY_EXISTS = 6,
        PERMISSION_DENIED = 7,
        RESOURCE_EXHAUSTED = 8,
        FAILED_PRECONDITION = 9,
        ABORTED = 10,
        OUT_OF_RANGE = 11,
        UNIMPLEMENTED = 12,
        INTERNAL = 13,
        UNAVAILABLE = 14,
        DATA_LOSS = 15,
        UNAUTHENTICATED = 16,
    }

    /// Element types of the FFI; not the numbers of [`PJRT_Buffer_Type`](crate::PJRT_Buffer_Type).
    XLA_FFI_DataType "XLA_FFI_DataType_" (114) {
        INVALID = 0,
        PRED = 1,
        S1 = 30,
        S2 = 26,
        S4 = 21,
        S8 = 2,
        S16 = 3,
        S32 = 4,
        S64 = 5,
        U1 = 31,
        U2 = 27,
        U4 = 22,
        U8 = 6,
        U16 = 7,
        U32 = 8,
        U64 = 9,
        F16 = 10,
        F32 = 11,
        F64 = 12,
        BF16 = 16,
        C64 = 15,
        C128 = 18,
        TOKEN = 17,
        F8E5M2 = 19,
        F8E3M4 = 29,
        F8E4M3 = 28,
        F8E4M3FN = 20,
        F8E4M3B11FNUZ = 23,
        F8E5M2FNUZ = 24,
        F8E4M3FNUZ = 25,
        F4E2M1FN = 32,
        F8E8M0FNU = 33,
    }

    /// Kinds of arguments.
    XLA_FFI_ArgType "XLA_FFI_ArgType_" (114) {
        BUFFER = 1,
    }

    /// Kinds of results.
    XLA_FFI_RetType "XLA_FFI_RetType_" (114) {
        BUFFER = 1,
    }

    /// Kinds of attributes.
    XLA_FFI_AttrType "XLA_FFI_AttrType_" (114) {
        ARRAY = 1,
        DICTIONARY = 2,
        SCALAR = 3,
        STRING = 4,
    }

    /// Stages of a custom call, in order.
    XLA_FFI_ExecutionStage "XLA_FFI_ExecutionStage_" (114) {
        INSTANTIATE = 0,
        PREPARE = 1,
        INITIALIZE = 2,
        EXECUTE = 3,
    }

    /// Bits of what a handler promises.
    XLA_FFI_Handler_TraitsBits "XLA_FFI_HANDLER_TRAITS_" (114) {
        COMMAND_BUFFER_COMPATIBLE = 1,
    }
}

structs! { "c_api.h";
    /// Head of every extension of the FFI.
    sized XLA_FFI_Extension_Base (114) {
        type_: XLA_FFI_Extension_Type,
        next: *mut XLA_FFI_Extension_Base,
    }

    /// The version of the FFI.
    sized XLA_FFI_Api_Version (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        major_version: c_int,
        minor_version: c_int,
    }

    /// Arguments of [`XLA_FFI_Error_Create`].
    sized XLA_FFI_Error_Create_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        message: *const c_char,
        errc: XLA_FFI_Error_Code,
    }

    /// Arguments of [`XLA_FFI_Error_GetMessage`]; sets `message`.
    sized XLA_FFI_Error_GetMessage_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        error: *mut XLA_FFI_Error,
        message: *const c_char,
    }

    /// Arguments of [`XLA_FFI_Error_Destroy`].
    sized XLA_FFI_Error_Destroy_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        error: *mut XLA_FFI_Error,
    }

    /// An array argument or result: element type, device address, dimensions.
    sized XLA_FFI_Buffer (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        dtype: XLA_FFI_DataType,
        data: *mut c_void,
        rank: i64,
        dims: *mut i64,
    }

    /// Bytes with their length.
    plain XLA_FFI_ByteSpan (114) {
        ptr: *const c_char,
        len: usize,
    }

    /// A scalar attribute.
    plain XLA_FFI_Scalar (114) {
        dtype: XLA_FFI_DataType,
        value: *mut c_void,
    }

    /// An array attribute.
    plain XLA_FFI_Array (114) {
        dtype: XLA_FFI_DataType,
        size: usize,
        data: *mut c_void,
    }

    /// Id of a type of user data; 0 means not yet registered.
    plain XLA_FFI_TypeId (114) {
        type_id: i64,
    }

    /// Functions on a type of user data.
    sized XLA_FFI_TypeInfo (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    }

    /// Arguments of [`XLA_FFI_Future_Create`]; sets `future`.
    sized XLA_FFI_Future_Create_Args (114, ends extension_start) {
        extension_start: *mut XLA_FFI_Extension_Base,
        future: *mut XLA_FFI_Future,
    }

    /// Arguments of [`XLA_FFI_Future_SetAvailable`].
    sized XLA_FFI_Future_SetAvailable_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        future: *mut XLA_FFI_Future,
    }

    /// Arguments of [`XLA_FFI_Future_SetError`].
    sized XLA_FFI_Future_SetError_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        future: *mut XLA_FFI_Future,
        error: *mut XLA_FFI_Error,
    }

    /// The arguments of a call.
    sized XLA_FFI_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        size: i64,
        types: *mut XLA_FFI_ArgType,
        args: *mut *mut c_void,
    }

    /// The results of a call.
    sized XLA_FFI_Rets (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        size: i64,
        types: *mut XLA_FFI_RetType,
        rets: *mut *mut c_void,
    }

    /// The attributes of a call, sorted by name.
    sized XLA_FFI_Attrs (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        size: i64,
        types: *mut XLA_FFI_AttrType,
        names: *mut *mut XLA_FFI_ByteSpan,
        attrs: *mut *mut c_void,
    }

    /// All that a handler is called with.
    sized XLA_FFI_CallFrame (114, ends attrs) {
        extension_start: *mut XLA_FFI_Extension_Base,
        api: *const XLA_FFI_Api,
        ctx: *mut XLA_FFI_ExecutionContext,
        stage: XLA_FFI_ExecutionStage,
        args: XLA_FFI_Args,
        rets: XLA_FFI_Rets,
        attrs: XLA_FFI_Attrs,
        future: *mut XLA_FFI_Future,
    }

    /// One handler a stage; those not needed are null.
    plain XLA_FFI_Handler_Bundle (114) {
        instantiate: Option<XLA_FFI_Handler>,
        prepare: Option<XLA_FFI_Handler>,
        initialize: Option<XLA_FFI_Handler>,
        execute: Option<XLA_FFI_Handler>,
    }

    /// Arguments of [`XLA_FFI_Handler_Register`].
    sized XLA_FFI_Handler_Register_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        name: XLA_FFI_ByteSpan,
        platform: XLA_FFI_ByteSpan,
        bundle: XLA_FFI_Handler_Bundle,
        traits: XLA_FFI_Handler_Traits,
    }

    /// Arguments of [`XLA_FFI_Type_Register`].
    sized XLA_FFI_Type_Register_Args (114, ends type_id) {
        extension_start: *mut XLA_FFI_Extension_Base,
        name: XLA_FFI_ByteSpan,
        type_id: *mut XLA_FFI_TypeId,
        type_info: *const XLA_FFI_TypeInfo,
    }

    /// Arguments of [`XLA_FFI_ExecutionContext_Get`]; sets `data`.
    sized XLA_FFI_ExecutionContext_Get_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        type_id: *mut XLA_FFI_TypeId,
        data: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_State_Set`].
    sized XLA_FFI_State_Set_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        stage: XLA_FFI_ExecutionStage,
        type_id: *mut XLA_FFI_TypeId,
        state: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_State_Get`]; sets `state`.
    sized XLA_FFI_State_Get_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        stage: XLA_FFI_ExecutionStage,
        type_id: *mut XLA_FFI_TypeId,
        state: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_Stream_Get`]; sets `stream`.
    sized XLA_FFI_Stream_Get_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        stream: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_DeviceMemory_Allocate`]; sets `data`.
    sized XLA_FFI_DeviceMemory_Allocate_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        size: usize,
        alignment: usize,
        data: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_DeviceMemory_Free`].
    sized XLA_FFI_DeviceMemory_Free_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        size: usize,
        data: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_ThreadPool_Schedule`].
    sized XLA_FFI_ThreadPool_Schedule_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        task: Option<XLA_FFI_Task>,
        data: *mut c_void,
    }

    /// Arguments of [`XLA_FFI_ThreadPool_NumThreads`]; sets `num_threads`.
    sized XLA_FFI_ThreadPool_NumThreads_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        num_threads: *mut i64,
    }

    /// Arguments of [`XLA_FFI_RunId_Get`]; sets `run_id`.
    sized XLA_FFI_RunId_Get_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        run_id: i64,
    }

    /// Arguments of [`XLA_FFI_DeviceOrdinal_Get`]; sets `device_ordinal`.
    sized XLA_FFI_DeviceOrdinal_Get_Args (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        ctx: *mut XLA_FFI_ExecutionContext,
        device_ordinal: i32,
    }

    /// What a handler says about itself when asked.
    sized XLA_FFI_Metadata (114, ends traits) {
        api_version: XLA_FFI_Api_Version,
        traits: XLA_FFI_Handler_Traits,
        state_type_id: XLA_FFI_TypeId,
    }

    /// Extension of a call frame that asks a handler about itself.
    plain XLA_FFI_Metadata_Extension (114) {
        extension_base: XLA_FFI_Extension_Base,
        metadata: *mut XLA_FFI_Metadata,
    }

    /// The table of the FFI.
    sized XLA_FFI_Api (114) {
        extension_start: *mut XLA_FFI_Extension_Base,
        api_version: XLA_FFI_Api_Version,
        internal_api: *const XLA_FFI_InternalApi,
        XLA_FFI_Error_Create: Option<XLA_FFI_Error_Create>,
        XLA_FFI_Error_GetMessage: Option<XLA_FFI_Error_GetMessage>,
        XLA_FFI_Error_Destroy: Option<XLA_FFI_Error_Destroy>,
        XLA_FFI_Handler_Register: Option<XLA_FFI_Handler_Register>,
        XLA_FFI_Stream_Get: Option<XLA_FFI_Stream_Get>,
        XLA_FFI_Type_Register: Option<XLA_FFI_Type_Register>,
        XLA_FFI_ExecutionContext_Get: Option<XLA_FFI_ExecutionContext_Get>,
        XLA_FFI_State_Set: Option<XLA_FFI_State_Set>,
        XLA_FFI_State_Get: Option<XLA_FFI_State_Get>,
        XLA_FFI_DeviceMemory_Allocate: Option<XLA_FFI_DeviceMemory_Allocate>,
        XLA_FFI_DeviceMemory_Free: Option<XLA_FFI_DeviceMemory_Free>,
        XLA_FFI_ThreadPool_Schedule: Option<XLA_FFI_ThreadPool_Schedule>,
        XLA_FFI_ThreadPool_NumThreads: Option<XLA_FFI_ThreadPool_NumThreads>,
        XLA_FFI_Future_Create: Option<XLA_FFI_Future_Create>,
        XLA_FFI_Future_SetAvailable: Option<XLA_FFI_Future_SetAvailable>,
        XLA_FFI_Future_SetError: Option<XLA_FFI_Future_SetError>,
        XLA_FFI_RunId_Get: Option<XLA_FFI_RunId_Get>,
        XLA_FFI_DeviceOrdinal_Get: Option<XLA_FFI_DeviceOrdinal_Get>,
    }
}
