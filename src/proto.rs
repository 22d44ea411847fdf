//! The protobuf messages that compilers take, and the shardings that they state, as far as
//! they are used: fields that aren't listed are skipped when read. Numbers are those of XLA's
//! `compile_options.proto` and `xla_data.proto`. Modules, which can be huge, are read in `hlo`.
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

/// How an array is spread over partitions. A tuple's is read in `hlo`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OpShardingProto {
    /// 0: replicated, 1: maximal, 2: tuple, 3: other, 4: manual.
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(int64, repeated, tag = "3")]
    pub tile_assignment_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "4")]
    pub tile_assignment_devices: Vec<i64>,
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
