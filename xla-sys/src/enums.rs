//! The enums of the core header.

enums! { "pjrt_c_api.h";
    /// Which extension a list element is.
    PJRT_Extension_Type "PJRT_Extension_Type_" (54) {
        Gpu_Custom_Call = 0,
        Profiler = 1,
        Custom_Partitioner = 2,
        Stream = 3,
        Layouts = 4,
        FFI = 5,
        #[since = 68] MemoryDescriptions = 6,
        #[since = 68] Triton = 7,
        #[since = 68] RawBuffer = 8,
        #[since = 81] PhaseCompile = 9,
        #[since = 81] Example = 10,
        #[since = 81] Unknown = 11,
        #[since = 81] CrossHostTransfers = 12,
        #[since = 81] ExecutableMetadata = 13,
        #[since = 81] Callback = 14,
        #[since = 81] HostAllocator = 15,
        #[since = 90] TpuTopology = 16,
        #[since = 90] TpuExecutable = 17,
        #[since = 90] Megascale = 18,
        #[since = 114] Shardings = 19,
        #[since = 114] AbiVersion = 20,
        #[since = 114] Collectives = 21,
        #[since = 114] MultiSlice = 22,
        #[since = 114] HostMemoryAllocator = 23,
        #[since = 114] XlaTransform = 24,
    }

    /// Status codes, the same numbers as those of Abseil and gRPC.
    PJRT_Error_Code "PJRT_Error_Code_" (54) {
        #[since = 81] OK = 0,
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

    /// Which member of a named value's union holds.
    PJRT_NamedValue_Type "PJRT_NamedValue_k" (54) {
        String = 0,
        Int64 = 1,
        Int64List = 2,
        Float = 3,
        Bool = 4,
    }

    /// How a process of a multi-process client is doing.
    PJRT_ProcessState "PJRT_ProcessState_k" (81) {
        Unspecified = 0,
        Uninitialized = 1,
        Disconnected = 2,
        Connected = 3,
        Error = 4,
    }

    /// Element types.
    PJRT_Buffer_Type "PJRT_Buffer_Type_" (54) {
        INVALID = 0,
        PRED = 1,
        S8 = 2,
        S16 = 3,
        S32 = 4,
        S64 = 5,
        U8 = 6,
        U16 = 7,
        U32 = 8,
        U64 = 9,
        F16 = 10,
        F32 = 11,
        F64 = 12,
        BF16 = 13,
        C64 = 14,
        C128 = 15,
        F8E5M2 = 16,
        F8E4M3FN = 17,
        F8E4M3B11FNUZ = 18,
        F8E5M2FNUZ = 19,
        F8E4M3FNUZ = 20,
        S4 = 21,
        U4 = 22,
        TOKEN = 23,
        S2 = 24,
        U2 = 25,
        #[since = 68] F8E4M3 = 26,
        #[since = 68] F8E3M4 = 27,
        #[since = 68] F8E8M0FNU = 28,
        #[since = 68] F4E2M1FN = 29,
        #[since = 114] S1 = 30,
        #[since = 114] U1 = 31,
        #[since = 114] F6E2M3FN = 32,
        #[since = 114] F6E3M2FN = 33,
    }

    /// How long, and in which way, the plugin may use the caller's host memory.
    PJRT_HostBufferSemantics "PJRT_HostBufferSemantics_k" (54) {
        /// The plugin reads it before the call returns.
        ImmutableOnlyDuringCall = 0,
        /// The plugin reads it until the event says so.
        ImmutableUntilTransferCompletes = 1,
        /// The plugin may read it in place as long as the buffer lives.
        ImmutableZeroCopy = 2,
        /// The plugin may read and write it in place as long as the buffer lives.
        MutableZeroCopy = 3,
    }

    /// Which member of a memory layout's union holds.
    PJRT_Buffer_MemoryLayout_Type "PJRT_Buffer_MemoryLayout_Type_" (54) {
        Tiled = 0,
        Strides = 1,
    }
}
