//! The numbers of the fields that are read, those of XLA's `hlo.proto` and `xla_data.proto`.

/// `HloModuleProtoWithConfig`.
pub(super) mod with_config {
    pub(in crate::hlo) const HLO_MODULE: u32 = 1;
}

/// `HloModuleProto`.
pub(super) mod module {
    pub(in crate::hlo) const NAME: u32 = 1;
    pub(in crate::hlo) const COMPUTATIONS: u32 = 3;
    pub(in crate::hlo) const HOST_PROGRAM_SHAPE: u32 = 4;
    pub(in crate::hlo) const ENTRY_COMPUTATION_ID: u32 = 6;
    pub(in crate::hlo) const SCHEDULE: u32 = 7;
    pub(in crate::hlo) const INPUT_OUTPUT_ALIAS: u32 = 8;
    pub(in crate::hlo) const SPMD_OUTPUT_SHARDING: u32 = 12;
    pub(in crate::hlo) const SPMD_PARAMETERS_SHARDINGS: u32 = 14;
    pub(in crate::hlo) const BUFFER_DONOR: u32 = 18;
}

/// `HloComputationProto`.
pub(super) mod computation {
    pub(in crate::hlo) const INSTRUCTIONS: u32 = 2;
    pub(in crate::hlo) const ID: u32 = 5;
    pub(in crate::hlo) const ROOT_ID: u32 = 6;
}

/// `HloInstructionProto`.
pub(super) mod instruction {
    pub(in crate::hlo) const OPCODE: u32 = 2;
    pub(in crate::hlo) const METADATA: u32 = 7;
    pub(in crate::hlo) const PARAMETER_NUMBER: u32 = 9;
    pub(in crate::hlo) const TUPLE_INDEX: u32 = 13;
    pub(in crate::hlo) const CHANNEL_ID: u32 = 26;
    pub(in crate::hlo) const ID: u32 = 35;
    pub(in crate::hlo) const OPERAND_IDS: u32 = 36;
    pub(in crate::hlo) const CALLED_COMPUTATION_IDS: u32 = 38;
    pub(in crate::hlo) const IS_HOST_TRANSFER: u32 = 47;
    pub(in crate::hlo) const REPLICA_GROUPS: u32 = 49;
    pub(in crate::hlo) const SOURCE_TARGET_PAIRS: u32 = 52;
    pub(in crate::hlo) const USE_GLOBAL_DEVICE_IDS: u32 = 71;
    pub(in crate::hlo) const COLLECTIVE_DEVICE_LIST: u32 = 87;
    pub(in crate::hlo) const IOTA_GROUPS: u32 = 92;
    pub(in crate::hlo) const MESH_GROUPS: u32 = 93;
}

/// `OpMetadata`.
pub(super) mod metadata {
    pub(in crate::hlo) const OP_NAME: u32 = 2;
}

/// `ReplicaGroup`.
pub(super) mod replica_group {
    pub(in crate::hlo) const REPLICA_IDS: u32 = 1;
}

/// `SourceTarget`.
pub(super) mod source_target {
    pub(in crate::hlo) const SOURCE: u32 = 1;
    pub(in crate::hlo) const TARGET: u32 = 2;
}

/// `CollectiveDeviceListProto`: groups that are listed, or counted up.
pub(super) mod device_list {
    pub(in crate::hlo) const REPLICA_GROUPS: u32 = 1;
    pub(in crate::hlo) const IOTA: u32 = 2;
}

/// `IotaReplicaGroupListProto`.
pub(super) mod iota {
    pub(in crate::hlo) const GROUPS: u32 = 1;
    pub(in crate::hlo) const DEVICES_IN_A_GROUP: u32 = 2;
}

/// `MeshAxesReplicaGroupListProto`: groups by the axes of a mesh of all devices.
pub(super) mod mesh_groups {
    pub(in crate::hlo) const MESH: u32 = 1;
}

/// `MeshProto`.
pub(super) mod mesh {
    pub(in crate::hlo) const AXES: u32 = 1;
}

/// `MeshProto.MeshAxis`.
pub(super) mod mesh_axis {
    pub(in crate::hlo) const SIZE: u32 = 2;
}

/// `OpSharding`; what a sharding of one array has is in `proto`.
pub(super) mod op_sharding {
    pub(in crate::hlo) const TYPE: u32 = 1;
    pub(in crate::hlo) const TUPLE_SHARDINGS: u32 = 5;
    /// The highest that is known.
    pub(in crate::hlo) const LAST: u32 = 14;
}

/// `ProgramShapeProto`.
pub(super) mod program_shape {
    pub(in crate::hlo) const PARAMETERS: u32 = 1;
    pub(in crate::hlo) const RESULT: u32 = 2;
}

/// `ShapeProto`.
pub(super) mod shape {
    pub(in crate::hlo) const ELEMENT_TYPE: u32 = 2;
    pub(in crate::hlo) const DIMENSIONS: u32 = 3;
    pub(in crate::hlo) const TUPLE_SHAPES: u32 = 4;
    pub(in crate::hlo) const LAYOUT: u32 = 5;
    pub(in crate::hlo) const IS_DYNAMIC_DIMENSION: u32 = 6;
}

/// `LayoutProto`.
pub(super) mod layout {
    pub(in crate::hlo) const MINOR_TO_MAJOR: u32 = 1;
    pub(in crate::hlo) const TILES: u32 = 6;
    pub(in crate::hlo) const ELEMENT_SIZE_IN_BITS: u32 = 7;
    pub(in crate::hlo) const MEMORY_SPACE: u32 = 8;
}

/// `TileProto`.
pub(super) mod tile {
    pub(in crate::hlo) const DIMENSIONS: u32 = 1;
}

/// `HloInputOutputAliasProto`, and `HloBufferDonorProto`.
pub(super) mod table {
    pub(in crate::hlo) const ENTRIES: u32 = 1;
}

/// `HloInputOutputAliasProto.AliasEntryProto`.
pub(super) mod alias {
    pub(in crate::hlo) const OUTPUT_SHAPE_INDEX: u32 = 1;
    pub(in crate::hlo) const PARAMETER_NUMBER: u32 = 2;
    pub(in crate::hlo) const PARAMETER_SHAPE_INDEX: u32 = 3;
    pub(in crate::hlo) const KIND: u32 = 4;
}

/// `HloBufferDonorProto.BufferDonorEntryProto`.
pub(super) mod donor {
    pub(in crate::hlo) const PARAMETER_NUMBER: u32 = 1;
    pub(in crate::hlo) const PARAMETER_SHAPE_INDEX: u32 = 2;
}
