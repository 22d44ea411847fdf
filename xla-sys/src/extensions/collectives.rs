//! Collectives of a plugin; only their names so far.

enums! { "pjrt_c_api_collectives_extension.h";
    /// How a collective combines values.
    PJRT_Collectives_ReductionKind "PJRT_COLLECTIVES_REDUCTION_" (114) {
        SUM = 0,
        PRODUCT = 1,
        MIN = 2,
        MAX = 3,
    }

    /// What the groups of a collective are made of.
    PJRT_Collectives_CollectiveOpKind "PJRT_COLLECTIVES_COLLECTIVE_OP_KIND_" (114) {
        CROSS_MODULE = 0,
        CROSS_REPLICA = 1,
    }
}
