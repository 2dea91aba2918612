//! What a fault hit, and what became of it first.

use fault::Fault;
use outcome::{FirstUse, Landed};

/// What a fault hit, and what first happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    /// The value that was hit, if any was.
    pub landed: Option<Landed>,
    /// What its thread first did with it.
    pub first_use: FirstUse,
}

impl Injected {
    /// The fault hit nothing.
    pub const NOTHING: Self = Self { landed: None, first_use: FirstUse::Never };

    /// The instructions of a thread that executed so many, from the first use of the value, or from the fault.
    #[must_use]
    pub fn after(&self, fault: &Fault, executed: u64) -> u64 {
        let used = match self.first_use {
            FirstUse::Read { after } | FirstUse::Overwritten { after } => after,
            FirstUse::Never => 0,
        };
        executed.saturating_sub(fault.dynamic + 1 + used)
    }
}
