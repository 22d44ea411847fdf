//! The protobuf messages that compilers take and give, as far as they are used:
//! fields that aren't listed are skipped when read. Numbers are those of XLA's
//! `compile_options.proto`, `hlo.proto` and `xla_data.proto`.
//!
//! `prost` derives the wire format from these structs; no protoc is needed.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CompileOptionsProto {
    #[prost(message, optional, tag = "3")]
    pub executable_build_options: Option<ExecutableBuildOptionsProto>,
    /// In order, so that equal options are equal bytes.
    #[prost(btree_map = "string, message", tag = "7")]
    pub env_option_overrides: BTreeMap<String, OptionOverrideProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OptionOverrideProto {
    #[prost(oneof = "OptionOverride", tags = "1, 2, 3, 4")]
    pub value: Option<OptionOverride>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum OptionOverride {
    #[prost(string, tag = "1")]
    String(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Double(f64),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExecutableBuildOptionsProto {
    #[prost(int64, tag = "1")]
    pub device_ordinal: i64,
    #[prost(int64, tag = "4")]
    pub num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub num_partitions: i64,
    #[prost(bool, tag = "6")]
    pub use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    pub device_assignment: Option<DeviceAssignmentProto>,
    #[prost(bool, tag = "19")]
    pub use_shardy_partitioner: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeviceAssignmentProto {
    #[prost(int32, tag = "1")]
    pub replica_count: i32,
    #[prost(int32, tag = "2")]
    pub computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    pub computation_devices: Vec<ComputationDevice>,
}

/// The devices of one partition, a global id for each replica.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    pub replica_device_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloModuleProtoWithConfig {
    #[prost(message, optional, tag = "1")]
    pub hlo_module: Option<HloModuleProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloModuleProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<HloComputationProto>,
    #[prost(message, optional, tag = "4")]
    pub host_program_shape: Option<ProgramShapeProto>,
    #[prost(int64, tag = "6")]
    pub entry_computation_id: i64,
    #[prost(message, optional, tag = "7")]
    pub schedule: Option<HloScheduleProto>,
    #[prost(message, optional, tag = "8")]
    pub input_output_alias: Option<HloInputOutputAliasProto>,
    /// An `OpShardingProto`, left as it is: one with fields that aren't known must not be read
    /// without them.
    #[prost(bytes = "vec", optional, tag = "12")]
    pub spmd_output_sharding: Option<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "14")]
    pub spmd_parameters_shardings: Vec<Vec<u8>>,
    #[prost(message, optional, tag = "18")]
    pub buffer_donor: Option<HloBufferDonorProto>,
}

/// How an array is spread over partitions.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OpShardingProto {
    /// 0: replicated, 1: maximal, 2: tuple, 3: other, 4: manual.
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(int64, repeated, tag = "3")]
    pub tile_assignment_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "4")]
    pub tile_assignment_devices: Vec<i64>,
    /// Each an `OpShardingProto`.
    #[prost(bytes = "vec", repeated, tag = "5")]
    pub tuple_shardings: Vec<Vec<u8>>,
    #[prost(bool, tag = "6")]
    pub replicate_on_last_tile_dim: bool,
    #[prost(int32, repeated, tag = "8")]
    pub last_tile_dims: Vec<i32>,
    #[prost(int64, repeated, tag = "9")]
    pub iota_reshape_dims: Vec<i64>,
    #[prost(int32, repeated, tag = "10")]
    pub iota_transpose_perm: Vec<i32>,
    /// A `NamedShardingProto`, in whose presence the other fields don't count.
    #[prost(bytes = "vec", optional, tag = "14")]
    pub named: Option<Vec<u8>>,
}

/// How an array is spread over the axes of a mesh of partitions.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NamedShardingProto {
    #[prost(message, repeated, tag = "1")]
    pub tuple_shardings: Vec<NamedShardingProto>,
    #[prost(message, optional, tag = "2")]
    pub mesh: Option<MeshProto>,
    #[prost(message, repeated, tag = "3")]
    pub dim_shardings: Vec<DimShardingProto>,
    #[prost(message, repeated, tag = "5")]
    pub unreduced_axes: Vec<AxisRefProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MeshProto {
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<MeshAxisProto>,
    /// Counted up where it is empty.
    #[prost(int64, repeated, tag = "2")]
    pub device_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MeshAxisProto {
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// The axes of the mesh that cut one axis of an array, the slowest varying first.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DimShardingProto {
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<AxisRefProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AxisRefProto {
    #[prost(int64, tag = "1")]
    pub index: i64,
    #[prost(message, optional, tag = "2")]
    pub part: Option<SubAxisProto>,
}

/// A part of an axis, which is seen as one of `pre_size` x `size` x the rest.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SubAxisProto {
    #[prost(int64, tag = "1")]
    pub pre_size: i64,
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// Only whether it is there matters.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloScheduleProto {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloInputOutputAliasProto {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<AliasEntryProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AliasEntryProto {
    #[prost(int64, repeated, tag = "1")]
    pub output_shape_index: Vec<i64>,
    #[prost(int64, tag = "2")]
    pub parameter_number: i64,
    #[prost(int64, repeated, tag = "3")]
    pub parameter_shape_index: Vec<i64>,
    /// 1: may alias, 2: must alias.
    #[prost(int32, tag = "4")]
    pub kind: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloBufferDonorProto {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<BufferDonorEntryProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BufferDonorEntryProto {
    #[prost(int64, tag = "1")]
    pub parameter_number: i64,
    #[prost(int64, repeated, tag = "2")]
    pub parameter_shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProgramShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<ShapeProto>,
    #[prost(message, optional, tag = "2")]
    pub result: Option<ShapeProto>,
    #[prost(string, repeated, tag = "3")]
    pub parameter_names: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ShapeProto {
    #[prost(int32, tag = "2")]
    pub element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    #[prost(message, repeated, tag = "4")]
    pub tuple_shapes: Vec<ShapeProto>,
    #[prost(message, optional, tag = "5")]
    pub layout: Option<LayoutProto>,
    #[prost(bool, repeated, tag = "6")]
    pub is_dynamic_dimension: Vec<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LayoutProto {
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    /// How the dimensions are cut into tiles, the outermost first; none on most devices.
    #[prost(message, repeated, tag = "6")]
    pub tiles: Vec<TileProto>,
    /// 0 where elements are whole bytes, or unpacked.
    #[prost(int64, tag = "7")]
    pub element_size_in_bits: i64,
    /// 0 is the device's own memory.
    #[prost(int64, tag = "8")]
    pub memory_space: i64,
}

/// The size of a tile, the slowest varying dimension first.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TileProto {
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloComputationProto {
    #[prost(message, repeated, tag = "2")]
    pub instructions: Vec<HloInstructionProto>,
    #[prost(int64, tag = "5")]
    pub id: i64,
    #[prost(int64, tag = "6")]
    pub root_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HloInstructionProto {
    #[prost(string, tag = "2")]
    pub opcode: String,
    #[prost(int64, tag = "35")]
    pub id: i64,
    #[prost(int64, repeated, packed = "true", tag = "36")]
    pub operand_ids: Vec<i64>,
    /// Which of a tuple's parts a `get-tuple-element` takes.
    #[prost(int64, tag = "13")]
    pub tuple_index: i64,
    /// The computations that it runs.
    #[prost(int64, repeated, tag = "38")]
    pub called_computation_ids: Vec<i64>,
    #[prost(message, optional, tag = "7")]
    pub metadata: Option<OpMetadata>,
    #[prost(int64, tag = "9")]
    pub parameter_number: i64,
    /// 0 for none.
    #[prost(int64, tag = "26")]
    pub channel_id: i64,
    #[prost(bool, tag = "47")]
    pub is_host_transfer: bool,
    #[prost(message, repeated, tag = "49")]
    pub replica_groups: Vec<ReplicaGroup>,
    #[prost(message, repeated, tag = "52")]
    pub source_target_pairs: Vec<SourceTarget>,
    #[prost(bool, tag = "71")]
    pub use_global_device_ids: bool,
    #[prost(message, optional, tag = "87")]
    pub collective_device_list: Option<CollectiveDeviceList>,
    #[prost(message, optional, tag = "92")]
    pub iota_groups: Option<IotaReplicaGroups>,
    #[prost(message, optional, tag = "93")]
    pub mesh_groups: Option<MeshReplicaGroups>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReplicaGroup {
    #[prost(int64, repeated, tag = "1")]
    pub replica_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SourceTarget {
    #[prost(int64, tag = "1")]
    pub source: i64,
    #[prost(int64, tag = "2")]
    pub target: i64,
}

/// The newer form of replica groups: listed, or counted up.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CollectiveDeviceList {
    #[prost(message, repeated, tag = "1")]
    pub replica_groups: Vec<ReplicaGroup>,
    #[prost(message, optional, tag = "2")]
    pub iota: Option<IotaReplicaGroups>,
}

/// Groups by the axes of a mesh of all devices.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MeshReplicaGroups {
    #[prost(message, optional, tag = "1")]
    pub mesh: Option<MeshProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IotaReplicaGroups {
    #[prost(int64, tag = "1")]
    pub groups: i64,
    #[prost(int64, tag = "2")]
    pub devices_in_a_group: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OpMetadata {
    #[prost(string, tag = "2")]
    pub op_name: String,
}
