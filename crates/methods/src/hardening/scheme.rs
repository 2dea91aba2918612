//! The scheme of all kernels, or that each has its own.

use rewrite::Scheme;

/// The scheme of all kernels, or that each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeChoice {
    /// One for all.
    Fixed(Scheme),
    /// DRDV or SRIV for each kernel, with deferred notification, by what is known of it.
    Automatic,
}

impl SchemeChoice {
    const AUTOMATIC: &str = "auto";

    /// The word that stands for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fixed(scheme) => scheme.word(),
            Self::Automatic => Self::AUTOMATIC,
        }
    }

    /// Every word.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Scheme::all().map(Scheme::word).chain([Self::AUTOMATIC])
    }

    /// The choice that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        if word == Self::AUTOMATIC { Some(Self::Automatic) } else { Scheme::from_word(word).map(Self::Fixed) }
    }

    /// Whether it is a proxy for costs, which notices no fault.
    #[must_use]
    pub fn is_proxy(self) -> bool {
        matches!(self, Self::Fixed(scheme) if scheme.is_proxy())
    }

    /// Whether loads can be executed twice with it.
    #[must_use]
    pub fn has_loads(self) -> bool {
        matches!(self, Self::Fixed(scheme) if Scheme::INSTRUCTIONS.contains(&scheme))
    }

    /// Whether blocks have to have twice as many threads.
    #[must_use]
    pub fn doubles_blocks(self) -> bool {
        matches!(self, Self::Fixed(scheme) if scheme.doubles_blocks())
    }
}

impl From<Scheme> for SchemeChoice {
    fn from(scheme: Scheme) -> Self {
        Self::Fixed(scheme)
    }
}
