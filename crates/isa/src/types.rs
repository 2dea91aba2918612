//! Special registers, in the words of the PTX ISA; scalar types, widths and state spaces are those of all guests.
//!
//! Reference: PTX ISA 9.0, §10.

pub(crate) use facts::types::words;
pub use facts::types::{Space, Type, Width};

words! {
    /// A read-only register that the machine provides.
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid",
        Smid = "%smid", Nsmid = "%nsmid", Gridid = "%gridid",
        LanemaskEq = "%lanemask_eq", LanemaskLe = "%lanemask_le", LanemaskLt = "%lanemask_lt",
        LanemaskGe = "%lanemask_ge", LanemaskGt = "%lanemask_gt",
        Clock = "%clock", ClockHi = "%clock_hi", Clock64 = "%clock64",
        Globaltimer = "%globaltimer", GlobaltimerLo = "%globaltimer_lo", GlobaltimerHi = "%globaltimer_hi",
        ClusteridX = "%clusterid.x", ClusteridY = "%clusterid.y", ClusteridZ = "%clusterid.z",
        NclusteridX = "%nclusterid.x", NclusteridY = "%nclusterid.y", NclusteridZ = "%nclusterid.z",
        ClusterCtaidX = "%cluster_ctaid.x", ClusterCtaidY = "%cluster_ctaid.y", ClusterCtaidZ = "%cluster_ctaid.z",
        ClusterNctaidX = "%cluster_nctaid.x", ClusterNctaidY = "%cluster_nctaid.y",
        ClusterNctaidZ = "%cluster_nctaid.z", ClusterCtarank = "%cluster_ctarank",
        ClusterNctarank = "%cluster_nctarank", IsExplicitCluster = "%is_explicit_cluster",
        CurrentGraphExec = "%current_graph_exec", AggrSmemSize = "%aggr_smem_size",
        Envreg0 = "%envreg0", Envreg1 = "%envreg1", Envreg2 = "%envreg2", Envreg3 = "%envreg3",
        Envreg4 = "%envreg4", Envreg5 = "%envreg5", Envreg6 = "%envreg6", Envreg7 = "%envreg7",
        DynamicSmemSize = "%dynamic_smem_size", TotalSmemSize = "%total_smem_size",
        ReservedSmemOffsetBegin = "%reserved_smem_offset_begin", ReservedSmemOffsetEnd = "%reserved_smem_offset_end",
        ReservedSmemOffsetCap = "%reserved_smem_offset_cap", ReservedSmemOffset0 = "%reserved_smem_offset_0",
        ReservedSmemOffset1 = "%reserved_smem_offset_1",
    }
}

impl Special {
    /// The width of the value.
    #[must_use]
    pub fn width(self) -> Width {
        match self {
            Self::Clock64 | Self::Globaltimer | Self::Gridid | Self::CurrentGraphExec => Width::B64,
            Self::IsExplicitCluster => Width::Pred,
            _ => Width::B32,
        }
    }

    /// Whether the value changes while a warp runs, so that each read must ask the machine.
    #[must_use]
    pub fn is_counter(self) -> bool {
        use Special::{Clock, Clock64, ClockHi, Globaltimer, GlobaltimerHi, GlobaltimerLo};
        matches!(self, Clock | ClockHi | Clock64 | Globaltimer | GlobaltimerLo | GlobaltimerHi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_to_the_value_that_prints_it() {
        for &special in Special::ALL {
            assert_eq!(Special::from_word(&special.to_string()), Some(special));
        }
    }
}
