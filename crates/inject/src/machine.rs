//! What a capsule runs on.

use device::{AddressProfile, Contract, Guests};
use simt::LevelName;
use std::sync::Arc;

/// The simulated GPU of a golden run and of the runs that are compared with it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The instruction-set level of this host; the results are the same at all.
    pub level: LevelName,
    /// Who reads modules.
    pub guests: Guests,
    /// What becomes of accesses that miss what the program was given.
    pub addresses: Arc<AddressProfile>,
    /// Which products are joined with the sums that read them.
    pub contract: Contract,
    /// Whether data races are looked for, and the launches interleaved that have some; if not, none are.
    pub looks_for_races: bool,
    /// Whether loops that go on for much longer than without a fault are looked ahead in; if not, they are executed one
    /// iteration after the other.
    pub looks_ahead: bool,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            level: LevelName::best(),
            guests: Guests::default(),
            addresses: Arc::default(),
            contract: Contract::default(),
            looks_for_races: true,
            looks_ahead: true,
        }
    }
}
