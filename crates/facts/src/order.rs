//! The order that an access to memory promises, and among which threads, in the words of the PTX ISA (9.0, §8).

use crate::types::words;

words! {
    /// The order that an access to memory promises among accesses of other threads.
    MemoryOrder {
        Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel",
    }
}

words! {
    /// The threads among which a strong access keeps its order.
    MemoryScope { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys" }
}
