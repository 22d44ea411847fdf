//! Types that are only ever seen behind a pointer.

opaque! {
    /// Several buffers that are being filled piece by piece.
    PJRT_AsyncHostToDeviceTransferManager;
    /// A mark of asynchronous work on a device.
    PJRT_AsyncTrackingEvent;
    /// An array on a device.
    PJRT_Buffer;
    /// A client: the devices of one plugin, opened.
    PJRT_Client;
    /// A stream of chunks that a program receives.
    PJRT_CopyToDeviceStream;
    /// A device of a client.
    PJRT_Device;
    /// Owner of a serialised device assignment.
    PJRT_DeviceAssignmentSerialized;
    /// What is known about a device without talking to it.
    PJRT_DeviceDescription;
    /// The right to end a device event; its first word points to a
    /// [`PJRT_DeviceEventPromise_FunctionTable`](crate::PJRT_DeviceEventPromise_FunctionTable).
    PJRT_DeviceEventPromise;
    /// Owner of a device's attributes.
    PJRT_Device_Attributes;
    /// An error; from 0.114 its first word may point to a [`PJRT_Error_FunctionTable`](crate::PJRT_Error_FunctionTable).
    PJRT_Error;
    /// Something that will be done.
    PJRT_Event;
    /// A compiled program.
    PJRT_Executable;
    /// The ABI version that a compiled program needs.
    PJRT_ExecutableAbiVersion;
    /// Data for the custom calls of a run.
    PJRT_ExecuteContext;
    /// The right to bind a placeholder buffer, once.
    PJRT_FulfillAliasBufferCallback;
    /// A device layout.
    PJRT_Layouts_MemoryLayout;
    /// Owner of a layout's text.
    PJRT_Layouts_SerializedLayout;
    /// A program that is ready to run.
    PJRT_LoadedExecutable;
    /// A memory of a client; from 0.114 its first word may point to a [`PJRT_Memory_FunctionTable`](crate::PJRT_Memory_FunctionTable).
    PJRT_Memory;
    /// What is known about a memory without the memory being there.
    PJRT_MemoryDescription;
    /// How several TPU slices work together.
    PJRT_MultiSlice_Config;
    /// A compiler that runs phase by phase.
    PJRT_PhaseCompiler;
    /// An untyped view of device memory; its first word points to a [`PJRT_RawBuffer_FunctionTable`](crate::PJRT_RawBuffer_FunctionTable).
    PJRT_RawBuffer;
    /// The ABI version of a runtime.
    PJRT_RuntimeAbiVersion;
    /// Owner of serialised compile options.
    PJRT_SerializedCompileOptions;
    /// Owner of a serialised program.
    PJRT_SerializedExecutable;
    /// Owner of a serialised message.
    PJRT_SerializedProto;
    /// Owner of a serialised topology.
    PJRT_SerializedTopology;
    /// A set of devices, described.
    PJRT_TopologyDescription;
    /// A profiler.
    PLUGIN_Profiler;
    /// What a profiler has recorded.
    PLUGIN_Profiler_ConsumeResult;
    /// An error of the profiler.
    PLUGIN_Profiler_Error;
    /// An error of the FFI.
    XLA_FFI_Error;
    /// The run that a handler is called in.
    XLA_FFI_ExecutionContext;
    /// The end of a handler that ends later.
    XLA_FFI_Future;
    /// Functions that XLA keeps to itself.
    XLA_FFI_InternalApi;
}
