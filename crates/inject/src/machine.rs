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

/// The words by which a configuration says what is special of a machine; nothing is said of what is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineWords {
    /// Of its profile of addresses: its name, or the file that it was read from.
    pub addresses: Option<String>,
    /// Which products it joins with sums.
    pub contract: Option<String>,
    /// In which order it executes warps and blocks.
    pub order: Option<String>,
}

impl MachineWords {
    pub(crate) fn of(addresses: &AddressProfile, contract: Contract, order: Order) -> Self {
        let own = *addresses != AddressProfile::default();
        Self {
            addresses: own.then(|| addresses.file.clone().unwrap_or_else(|| addresses.name.clone())),
            contract: (contract != Contract::default()).then(|| contract.word().to_owned()),
            order: (order != Order::default()).then(|| order.word().to_owned()),
        }
    }
}

impl Order {
    /// Every order that has a word; the first is the one that applies if nobody names another.
    pub const ALL: [Self; 5] = [
        Self::AsRaces,
        Self::Always(Interleaving::Turns),
        Self::Always(Interleaving::Reversed),
        Self::Always(Interleaving::Warps),
        Self::Always(Interleaving::Blocks),
    ];

    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::AsRaces => "races",
            Self::Always(Interleaving::Turns) => "turns",
            Self::Always(Interleaving::Reversed) => "reversed",
            Self::Always(Interleaving::Warps) => "warps",
            Self::Always(Interleaving::Blocks) => "blocks",
        }
    }

    /// The order that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }

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
