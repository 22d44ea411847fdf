//! What the fake remembers: calls, live objects.

/// How many objects are alive: made, and not destroyed yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// `PJRT_Client`.
    pub clients: usize,
    /// `PJRT_Buffer`, with those whose memory is gone.
    pub buffers: usize,
    /// `PJRT_Event`.
    pub events: usize,
    /// `PJRT_AsyncHostToDeviceTransferManager`.
    pub transfers: usize,
    /// `PJRT_Executable`.
    pub executables: usize,
    /// `PJRT_LoadedExecutable`.
    pub loaded_executables: usize,
    /// `PJRT_SerializedExecutable`, which has a deleter of its own.
    pub serialized: usize,
    /// `PJRT_TopologyDescription`, without those that clients lend.
    pub topologies: usize,
    /// `PJRT_SerializedTopology`, which has a deleter of its own.
    pub serialized_topologies: usize,
    /// `PJRT_Error`.
    pub errors: usize,
    /// Pieces of device memory, and of host memory that is used in place. A buffer has one until it
    /// is deleted or donated; an unfinished copy or run keeps those that it reads.
    pub storages: usize,
    /// Pieces of host memory that are mapped for direct memory access.
    pub mappings: usize,
}

/// A call of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The entry's C name.
    pub entry: &'static str,
    /// The numbers of the handles that the call handed out, in order. Handles are numbered from 1
    /// as they are made, all kinds in one row.
    pub made: Vec<u64>,
    /// Whether it returned an error.
    pub failed: bool,
    /// For `PJRT_LoadedExecutable_Execute`: what it was passed.
    pub execution: Option<Execution>,
}

/// What `PJRT_LoadedExecutable_Execute` was passed, and the numbers of the outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Execution {
    /// The numbers of the argument buffers, a list for each device. 0 stands for what is no buffer.
    pub arguments: Vec<Vec<u64>>,
    /// The numbers of the output buffers, a list for each device; none if the call failed.
    pub outputs: Vec<Vec<u64>>,
    /// The option of that name, as it was passed.
    pub non_donatable_input_indices: Vec<i64>,
    /// For how many devices argument lists were passed.
    pub num_devices: usize,
    /// Whether events for the devices' completion were asked for.
    pub completion_events: bool,
}

/// All calls and breaches so far.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) calls: Vec<Call>,
    pub(crate) violations: Vec<String>,
}
