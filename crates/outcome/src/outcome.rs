//! What a run can come to, as classes and their kinds.
//!
//! The classes are those of the literature (S. S. Mukherjee et al., *The soft error problem: an architectural
//! perspective*, HPCA 2005): masked, silent data corruption (SDC), detected unrecoverable error (DUE). Two more keep
//! the account honest: a fault that did not land is not masked, and a run that we failed to make is no outcome at
//! all.

use std::borrow::Cow;

use crate::host::HostSignal;
use crate::observation::{FirstUse, TrapKind};
use crate::words;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The outputs are those of the golden run.
    Masked(Masked),
    /// The run ended as if nothing had happened, with other outputs.
    Sdc(Sdc),
    /// The run did not end normally, or said that something was wrong.
    Due(Due),
    /// The application saw other values before the GPU was done, and what it would have done was not found out.
    Undecided,
    /// Nothing was hit: the site was not reached, or its instruction was guarded off.
    NotLanded,
}

words! {
    /// Why a landed fault changed nothing.
    pub enum Masked ("kind of masking") {
        /// Nothing read the hit value before its thread ended.
        NeverRead = "never_read",
        /// It was replaced before anything read it.
        Overwritten = "overwritten",
        /// It was read, and the computation absorbed it.
        Logical = "logical",
    }
}

/// How bad a silent corruption is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sdc {
    /// No criterion was given for a differing output.
    Unjudged,
    /// All outputs are within their tolerance.
    Good,
    /// Between good and bad, in the quality bin of this number.
    Maybe(u8),
    /// An output is outside its tolerance.
    Bad,
    /// A plain check of the outputs would notice: NaN, infinity, or a value outside its declared range ("DDC").
    Detectable,
}

/// How a run that did not end normally ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Due {
    /// A crash, by its trap.
    Crash(TrapKind),
    /// A crash of the application's host, by its signal.
    Signal(HostSignal),
    /// A hang: a loop that provably never ends, or an application that was still there when its time was over.
    Hang,
    /// A thread that was stopped because it had used up its fuel; whether it would have ended is not known.
    OutOfFuel,
    /// Detected by the program's own checks or by inserted hardening.
    Detected,
}

words! {
    /// The class of a row: the class of its outcome, or `failed` where there is none.
    pub enum Class ("class") {
        /// [`Outcome::Masked`].
        Masked = "masked",
        /// [`Outcome::Sdc`].
        Sdc = "sdc",
        /// [`Outcome::Due`].
        Due = "due",
        /// [`Outcome::Undecided`].
        Undecided = "undecided",
        /// [`Outcome::NotLanded`].
        NotLanded = "not_landed",
        /// The run could not be made; the row holds why.
        Failed = "failed",
    }
}

impl Class {
    /// Whether the fault of such a row landed: the base of all rates.
    #[must_use]
    pub fn has_landed(self) -> bool {
        !matches!(self, Self::NotLanded | Self::Failed)
    }
}

impl Masked {
    /// Why a value that was first used like this changed nothing.
    #[must_use]
    pub fn by(first_use: FirstUse) -> Self {
        match first_use {
            FirstUse::Never => Self::NeverRead,
            FirstUse::Overwritten { .. } => Self::Overwritten,
            FirstUse::Read { .. } => Self::Logical,
        }
    }
}

impl Outcome {
    /// The class that the outcome belongs to; never [`Class::Failed`].
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::Masked(_) => Class::Masked,
            Self::Sdc(_) => Class::Sdc,
            Self::Due(_) => Class::Due,
            Self::Undecided => Class::Undecided,
            Self::NotLanded => Class::NotLanded,
        }
    }

    /// The sub-class in a word; `None` for a fault that did not land and for a run of which nothing is known.
    #[must_use]
    pub fn kind(self) -> Option<Cow<'static, str>> {
        match self {
            Self::Masked(masked) => Some(masked.word().into()),
            Self::Sdc(sdc) => Some(sdc.word()),
            Self::Due(due) => Some(due.word().into()),
            Self::Undecided | Self::NotLanded => None,
        }
    }

    /// The outcome that [`class`](Self::class) and [`kind`](Self::kind) name, if they name one.
    #[must_use]
    pub fn from_words(class: Class, kind: Option<&str>) -> Option<Self> {
        match (class, kind) {
            (Class::Masked, Some(kind)) => kind.parse().ok().map(Self::Masked),
            (Class::Sdc, Some(kind)) => Sdc::from_word(kind).map(Self::Sdc),
            (Class::Due, Some(kind)) => Due::from_word(kind).map(Self::Due),
            (Class::Undecided, None) => Some(Self::Undecided),
            (Class::NotLanded, None) => Some(Self::NotLanded),
            _ => None,
        }
    }
}

impl Sdc {
    /// The word for it; a bin follows an underscore, as in `maybe_3`.
    #[must_use]
    pub fn word(self) -> Cow<'static, str> {
        match self {
            Self::Unjudged => "unjudged".into(),
            Self::Good => "good".into(),
            Self::Maybe(bin) => format!("maybe_{bin}").into(),
            Self::Bad => "bad".into(),
            Self::Detectable => "detectable".into(),
        }
    }

    /// Whether no criterion accepts a corruption of this kind: it is bad, detectable, or nobody has judged it. Good ones
    /// and those between good and bad are accepted.
    #[must_use]
    pub fn counts_as_bad(word: &str) -> bool {
        [Self::Bad, Self::Detectable, Self::Unjudged].iter().any(|kind| kind.word() == word)
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "unjudged" => Some(Self::Unjudged),
            "good" => Some(Self::Good),
            "bad" => Some(Self::Bad),
            "detectable" => Some(Self::Detectable),
            _ => {
                let bin = word.strip_prefix("maybe_")?.parse().ok().map(Self::Maybe)?;
                // "maybe_+3" parses too, but is not what we write.
                (bin.word() == word).then_some(bin)
            }
        }
    }
}

impl Due {
    /// The word for it: the trap's, the signal's, `hang`, `out_of_fuel` or `detected`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Crash(trap) => trap.word(),
            Self::Signal(signal) => signal.word(),
            Self::Hang => "hang",
            Self::OutOfFuel => "out_of_fuel",
            Self::Detected => "detected",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "hang" => Some(Self::Hang),
            "out_of_fuel" => Some(Self::OutOfFuel),
            "detected" => Some(Self::Detected),
            word => word.parse().map(Self::Crash).or_else(|_| word.parse().map(Self::Signal)).ok(),
        }
    }

    /// Every way, in the order in which reports list them.
    pub fn all() -> impl Iterator<Item = Self> {
        let signals = HostSignal::ALL.iter().copied().map(Self::Signal);
        TrapKind::ALL
            .iter()
            .copied()
            .map(Self::Crash)
            .chain([Self::Hang, Self::OutOfFuel, Self::Detected])
            .chain(signals)
    }
}
