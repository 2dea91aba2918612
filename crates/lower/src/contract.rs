//! Whether products are joined with sums.

/// What becomes of products and sums that have no rounding modifier, which an assembler may join (PTX ISA 9.0, §9.7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contract {
    /// Those are joined that `ptxas` joins, and so a GPU.
    #[default]
    Ptxas,
    /// None are: each is rounded by itself, as written.
    Off,
}

impl Contract {
    /// Every choice; the first is the one that applies if nobody makes another.
    pub const ALL: [Self; 2] = [Self::Ptxas, Self::Off];

    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::Off => "off",
        }
    }

    /// The choice that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contract| contract.word() == word)
    }
}
