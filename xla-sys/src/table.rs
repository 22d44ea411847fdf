//! The table of functions.

use crate::*;

table! {
    /// Frees an error. Returns nothing.
    void PJRT_Error_Destroy(PJRT_Error_Destroy_Args) 54;
    /// Lends the text of an error: a pointer and a length, not NUL-terminated. Returns nothing.
    void PJRT_Error_Message(PJRT_Error_Message_Args) 54;
    /// Reads the status code of an error.
    fallible PJRT_Error_GetCode(PJRT_Error_GetCode_Args) 54;
    /// One-time setup of the plugin, to be called once per library before all else.
    fallible PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args) 54;
    /// Lists named facts about the plugin, such as its XLA and StableHLO versions.
    fallible PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args) 54;
    /// Frees an event. Work that it stands for goes on.
    fallible PJRT_Event_Destroy(PJRT_Event_Destroy_Args) 54;
    /// Asks, without waiting, whether the event is done (well or badly).
    fallible PJRT_Event_IsReady(PJRT_Event_IsReady_Args) 54;
    /// Asks a finished event how it ended: null for well, an error to free otherwise.
    fallible PJRT_Event_Error(PJRT_Event_Error_Args) 54;
    /// Blocks until the event is done, and returns how it ended.
    fallible PJRT_Event_Await(PJRT_Event_Await_Args) 54;
    /// Registers a function to be called once, when the event is done.
    fallible PJRT_Event_OnReady(PJRT_Event_OnReady_Args) 54;
    /// Starts a client: opens the devices of this plugin.
    fallible PJRT_Client_Create(PJRT_Client_Create_Args) 54;
    /// Shuts a client down and frees it; nothing made by it may still be alive.
    fallible PJRT_Client_Destroy(PJRT_Client_Destroy_Args) 54;
    /// Name of the platform, such as `cpu`, `cuda` or `tpu`.
    fallible PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args) 54;
    /// Index of this process among those that form the client.
    fallible PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args) 54;
    /// Free-form version text of the platform.
    fallible PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args) 54;
    /// Every device of the client, on other hosts too.
    fallible PJRT_Client_Devices(PJRT_Client_Devices_Args) 54;
    /// The devices that this process may send work to.
    fallible PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args) 54;
    /// Finds a device by its global id.
    fallible PJRT_Client_LookupDevice(PJRT_Client_LookupDevice_Args) 54;
    /// Finds a device of this process by its local hardware id.
    fallible PJRT_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args) 54;
    /// The memories that this process can reach.
    fallible PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args) 54;
    /// Compiles a program for this client and loads it.
    fallible PJRT_Client_Compile(PJRT_Client_Compile_Args) 54;
    /// Which device id runs which replica and partition, if the caller has no wish.
    fallible PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args) 54;
    /// Starts copying an array from host memory to a device.
    fallible PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args) 54;
    /// Global id of a device, unique in the whole client.
    fallible PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args) 54;
    /// Index of the process that the device belongs to.
    fallible PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args) 54;
    /// Named facts about a device, different on every platform.
    fallible PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args) 54;
    /// The model of a device, as its vendor names it.
    fallible PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args) 54;
    /// Long text about a device, for logs.
    fallible PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args) 54;
    /// Short text about a device, for messages.
    fallible PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args) 54;
    /// The description of a device: what is known without talking to it.
    fallible PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args) 54;
    /// Whether this process may send work to a device.
    fallible PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args) 54;
    /// Number of a device on its own host, or -1.
    fallible PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args) 54;
    /// The memories within a device's reach.
    fallible PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args) 54;
    /// The memory that a device uses if none is named.
    fallible PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args) 54;
    /// How much device memory is in use; most numbers are optional.
    fallible PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args) 54;
    /// Id of a memory, unique in the client.
    fallible PJRT_Memory_Id(PJRT_Memory_Id_Args) 54;
    /// The kind of a memory, such as `device` or `pinned_host`.
    fallible PJRT_Memory_Kind(PJRT_Memory_Kind_Args) 54;
    /// Long text about a memory, for logs.
    fallible PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args) 54;
    /// Short text about a memory, for messages.
    fallible PJRT_Memory_ToString(PJRT_Memory_ToString_Args) 54;
    /// The devices that can use a memory.
    fallible PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args) 54;
    /// Frees a compiled, not loaded program.
    fallible PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args) 54;
    /// Name of the module that was compiled.
    fallible PJRT_Executable_Name(PJRT_Executable_Name_Args) 54;
    /// How many replicas the program was compiled for.
    fallible PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args) 54;
    /// How many partitions the program was compiled for.
    fallible PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args) 54;
    /// How many results a device gives per run.
    fallible PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args) 54;
    /// Size of the machine code.
    fallible PJRT_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args) 54;
    /// Named estimates of cost, such as flops.
    fallible PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args) 54;
    /// The memory kind of every result.
    fallible PJRT_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args) 54;
    /// The program after optimisation. Called twice: for the size, then for the bytes.
    fallible PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args) 54;
    /// Turns a compiled program into bytes.
    fallible PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args) 54;
    /// Frees a loaded program.
    fallible PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args) 54;
    /// The compiled program behind a loaded one, as a handle of its own to free.
    fallible PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args) 54;
    /// The devices of this process that the program runs on, in order of replica and partition.
    fallible PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args) 54;
    /// Drops the machine code early; the handle stays, and can't run any more.
    fallible PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args) 54;
    /// Whether the machine code has been dropped.
    fallible PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args) 54;
    /// Runs the program on all its devices, one argument list a device.
    fallible PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args) 54;
    /// Loads a program from the bytes of an earlier serialisation.
    fallible PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args) 54;
    /// A fingerprint of the loaded program; `PJRT_Executable_Fingerprint` has taken its place.
    fallible PJRT_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args) 54;
    /// Gives up a buffer and frees the handle.
    fallible PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args) 54;
    /// Element type of a buffer.
    fallible PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args) 54;
    /// The dimensions of a buffer, lent.
    fallible PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args) 54;
    /// The dimensions without padding, for dynamic shapes.
    fallible PJRT_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args) 54;
    /// Which dimensions are dynamic.
    fallible PJRT_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args) 54;
    /// How the elements lie in device memory.
    fallible PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args) 54;
    /// Bytes that a buffer takes on its device.
    fallible PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args) 54;
    /// The device that holds a buffer.
    fallible PJRT_Buffer_Device(PJRT_Buffer_Device_Args) 54;
    /// The memory that holds a buffer.
    fallible PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args) 54;
    /// Frees the device memory now; the handle stays.
    fallible PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args) 54;
    /// Whether the device memory is gone: deleted or donated.
    fallible PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args) 54;
    /// Starts a copy to another device.
    fallible PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args) 54;
    /// Starts a copy to host memory; without a destination it only tells the size.
    fallible PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args) 54;
    /// Whether the contents lie in host memory.
    fallible PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args) 54;
    /// An event for the contents being there.
    fallible PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args) 54;
    /// The device address of a buffer, as a number, with no promise how long it holds.
    fallible PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args) 54;
    /// Takes a hold on a buffer, so that its memory can't be freed or donated.
    fallible PJRT_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args) 54;
    /// Gives a hold on a buffer back.
    fallible PJRT_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args) 54;
    /// The platform's own pointer to the contents, valid under a hold.
    fallible PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args) 54;
    /// Frees a stream of chunks.
    fallible PJRT_CopyToDeviceStream_Destroy(PJRT_CopyToDeviceStream_Destroy_Args) 54;
    /// Adds one chunk to a stream and hands it over.
    fallible PJRT_CopyToDeviceStream_AddChunk(PJRT_CopyToDeviceStream_AddChunk_Args) 54;
    /// How many bytes a stream expects in all.
    fallible PJRT_CopyToDeviceStream_TotalBytes(PJRT_CopyToDeviceStream_TotalBytes_Args) 54;
    /// Smallest chunk a stream takes, in bytes.
    fallible PJRT_CopyToDeviceStream_GranuleSize(PJRT_CopyToDeviceStream_GranuleSize_Args) 54;
    /// How many bytes a stream has taken so far.
    fallible PJRT_CopyToDeviceStream_CurrentBytes(PJRT_CopyToDeviceStream_CurrentBytes_Args) 54;
    /// Describes a set of devices, without the devices being there.
    fallible PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args) 54;
    /// Frees a topology made by the caller.
    fallible PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args) 54;
    /// Platform name of a topology.
    fallible PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args) 54;
    /// Platform version of a topology.
    fallible PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args) 54;
    /// The devices that a topology describes.
    fallible PJRT_TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args) 54;
    /// Turns a topology into bytes.
    fallible PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args) 54;
    /// Named facts about a topology.
    fallible PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args) 54;
    /// Compiles a program for a topology; the client may be null.
    fallible PJRT_Compile(PJRT_Compile_Args) 54;
    /// The element type of every result.
    fallible PJRT_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args) 54;
    /// The dimensions of every result, one list after the other.
    fallible PJRT_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args) 54;
    /// Starts a copy to another memory.
    fallible PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args) 54;
    /// Makes a buffer of device memory that someone else owns.
    fallible PJRT_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args) 54;
    /// A fingerprint of the compiled program, for caches.
    fallible PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args) 54;
    /// The topology of the client's devices, lent.
    fallible PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args) 54;
    /// How much memory a run will need, as the compiler knows it.
    fallible PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args) 54;
    /// The kind of a memory as a number.
    fallible PJRT_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args) 54;
    /// Makes a context: data for the custom calls of a run.
    fallible PJRT_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args) 54;
    /// Frees a context.
    fallible PJRT_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args) 54;
    /// Starts copying a range of raw bytes to the host.
    fallible PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args) 68;
    /// Frees a transfer manager.
    fallible PJRT_AsyncHostToDeviceTransferManager_Destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args) 68;
    /// Sends a piece of one buffer.
    fallible PJRT_AsyncHostToDeviceTransferManager_TransferData(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args) 68;
    /// Makes several buffers at once, to be filled piece by piece.
    fallible PJRT_Client_CreateBuffersForAsyncHostToDevice(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args) 68;
    /// Takes one buffer out of the manager; it may still be filling.
    fallible PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args) 68;
    /// The device that the manager sends to.
    fallible PJRT_AsyncHostToDeviceTransferManager_Device(PJRT_AsyncHostToDeviceTransferManager_Device_Args) 68;
    /// How many buffers the manager fills.
    fallible PJRT_AsyncHostToDeviceTransferManager_BufferCount(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args) 68;
    /// Size of one of the buffers in bytes.
    fallible PJRT_AsyncHostToDeviceTransferManager_BufferSize(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args) 68;
    /// Ends one of the buffers with an error.
    fallible PJRT_AsyncHostToDeviceTransferManager_SetBufferError(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args) 68;
    /// Attaches named values to the transfer, for tracing.
    fallible PJRT_AsyncHostToDeviceTransferManager_AddMetadata(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args) 68;
    /// Registers host memory for direct access by the devices.
    fallible PJRT_Client_DmaMap(PJRT_Client_DmaMap_Args) 68;
    /// Takes that registration back.
    fallible PJRT_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args) 68;
    /// Makes a buffer with whatever lies in its memory.
    fallible PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args) 81;
    /// Tells the client how the other processes are doing.
    fallible PJRT_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args) 81;
    /// Makes a topology from the bytes of an earlier serialisation.
    fallible PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args) 81;
    /// Makes a placeholder that another buffer will stand in for later.
    fallible PJRT_Client_CreateAliasBuffer(PJRT_Client_CreateAliasBuffer_Args) 81;
    /// Binds a placeholder to its buffer, or to an error.
    fallible PJRT_Client_FulfillAliasBuffer(PJRT_Client_FulfillAliasBuffer_Args) 81;
    /// The device assignment of a loaded program, as a serialised message.
    fallible PJRT_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args) 81;
    /// Makes a buffer that holds an error in place of contents.
    fallible PJRT_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args) 90;
    /// Sends a whole array, with its shape, into one buffer.
    fallible PJRT_AsyncHostToDeviceTransferManager_TransferLiteral(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args) 90;
    /// Copies raw bytes to a host address that is given later.
    fallible PJRT_Buffer_CopyRawToHostFuture(PJRT_Buffer_CopyRawToHostFuture_Args) 90;
    /// Makes the run with the given launch id fail with an error.
    fallible PJRT_Device_PoisonExecution(PJRT_Device_PoisonExecution_Args) 90;
    /// Marks asynchronous work on a device, for its own bookkeeping.
    fallible PJRT_Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args) 90;
    /// Ends such a mark.
    fallible PJRT_AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args) 90;
    /// The compile options of a program, as a serialised message.
    fallible PJRT_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args) 90;
    /// Moves a buffer into a new one that waits for a dependency first.
    fallible PJRT_Buffer_DonateWithControlDependency(PJRT_Buffer_DonateWithControlDependency_Args) 90;
    /// Makes an event that the caller will set.
    fallible PJRT_Event_Create(PJRT_Event_Create_Args) 90;
    /// Sets such an event, well or with an error.
    fallible PJRT_Event_Set(PJRT_Event_Set_Args) 90;
    /// Named facts about a live device.
    fallible PJRT_Device_GetAttributes(PJRT_Device_GetAttributes_Args) 114;
    /// Loads a compiled program onto the client's devices.
    fallible PJRT_Client_Load(PJRT_Client_Load_Args) 114;
    /// Replica and partition of every device of this process.
    fallible PJRT_LoadedExecutable_AddressableDeviceLogicalIds(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args) 114;
    /// The same memory under another shape, element type or layout.
    fallible PJRT_Buffer_Bitcast(PJRT_Buffer_Bitcast_Args) 114;
    /// Shows every payload of an error to a visitor.
    fallible PJRT_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args) 114;
    /// A fingerprint of a topology.
    fallible PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args) 114;
    /// The memory kind of every parameter.
    fallible PJRT_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args) 114;
    /// Sets the memory statistics of a device back.
    fallible PJRT_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args) 114;
    /// The shape, with layout, that an array gets in a memory kind, as a serialised message.
    fallible PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args) 114;
    /// The memory kinds of a topology, as numbers.
    fallible PJRT_TopologyDescription_GetMemorySpaceKindIds(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args) 114;
}

pub(crate) const STRUCTS: &[crate::layout::Struct] = &[PJRT_Api::LAYOUT];
