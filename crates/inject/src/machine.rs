//! What a capsule runs on.

use device::{AddressProfile, Contract, Guests};
use simt::{Interleaving, LevelName};
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
    /// In which order warps and blocks execute.
    pub order: Order,
    /// Whether loops that go on for much longer than without a fault are looked ahead in; if not, they are executed one
    /// iteration after the other.
    pub looks_ahead: bool,
}

/// In which order warps and blocks execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Data races are looked for, and the launches interleaved that have some.
    #[default]
    AsRaces,
    /// All launches are interleaved so. Programs with data races may then come to other results than in their recording.
    Always(Interleaving),
}

impl Order {
    /// One warp after the other, whatever races: nothing is looked for, and nothing interleaved.
    pub const PLAIN: Self = Self::Always(Interleaving::Turns);
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            level: LevelName::best(),
            guests: Guests::default(),
            addresses: Arc::default(),
            contract: Contract::default(),
            order: Order::default(),
            looks_ahead: true,
        }
    }
}
