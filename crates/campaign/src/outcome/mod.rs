//! From facts to labels: [`classify`], one total function with a version.
//!
//! The classes are those of the literature (S. S. Mukherjee et al., *The soft error problem: an architectural
//! perspective*, HPCA 2005): masked, silent data corruption (SDC), detected unrecoverable error (DUE). Two more keep
//! the account honest: a fault that did not land is not masked, and a run that we failed to make is no outcome at
//! all.

mod code;
mod criteria;
mod quality;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::observation::{End, FirstUse, Host, HostSignal, Observation, TrapKind, Verdict};
use crate::words::words;

use criteria::judge;

pub use code::FAILED_CODE;
pub use criteria::{Criteria, Criterion};
pub(crate) use quality::KEYS as QUALITY_KEYS;
pub use quality::{Element, Metric, Quality, QualityError};

/// The version of [`classify`], stored with every label; raised when a label of any observation changes.
pub const CLASSIFIER_VERSION: u32 = 1;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The outputs are those of the golden run.
    Masked(Masked),
    /// The run ended as if nothing had happened, with other outputs.
    Sdc(Sdc),
    /// The run did not end normally, or said that something was wrong.
    Due(Due),
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
    /// A hang.
    Hang,
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
        /// [`Outcome::NotLanded`].
        NotLanded = "not_landed",
        /// The run could not be made; the row holds why.
        Failed = "failed",
    }
}

/// Derives the outcome of an observation. Total: every observation has exactly one.
#[must_use]
pub fn classify(observation: &Observation, criteria: &Criteria) -> Outcome {
    if observation.landed.is_none() {
        return Outcome::NotLanded;
    }
    match &observation.end {
        End::Trapped { trap, .. } => Outcome::Due(Due::Crash(*trap)),
        End::Hang { .. } | End::TimedOut => Outcome::Due(Due::Hang),
        End::Detected { .. } | End::Exited { .. } => Outcome::Due(Due::Detected),
        End::Signalled { signal } => Outcome::Due(Due::Signal(HostSignal::of(*signal))),
        End::Completed => {
            let differs = observation.outputs.iter().any(|output| output.differing > 0);
            let memory = differs.then(|| judge(&observation.outputs, criteria));
            let masked = Outcome::Masked(Masked::by(observation.first_use));
            observation
                .host
                .as_ref()
                .map_or_else(|| memory.map_or(masked, Outcome::Sdc), |host| with_host(host, memory).unwrap_or(masked))
        }
    }
}

/// The outcome of an application that ended well, from what it left and from how its memory was judged, if that
/// differs; `None` if nothing that counts differs.
///
/// What a judge says goes for all that the application left. Without one, differing bytes are a corruption that nobody
/// has judged. Standard error is where programs complain: it is no output, but where it alone differs the program said
/// that something was wrong.
fn with_host(host: &Host, memory: Option<Sdc>) -> Option<Outcome> {
    let left = host.stdout || !host.files.is_empty();
    let sdc = match (host.verdict, memory) {
        (Some(Verdict::Bad), _) => Sdc::Bad,
        (Some(Verdict::Detectable), _) => Sdc::Detectable,
        (Some(Verdict::Acceptable), None) => return None,
        (Some(Verdict::Acceptable), Some(_)) => Sdc::Good,
        (None, _) if left && host.special => Sdc::Detectable,
        (None, Some(worse @ (Sdc::Bad | Sdc::Detectable))) => worse,
        (None, _) if left => Sdc::Unjudged,
        (None, Some(judged)) => judged,
        (None, None) => return host.stderr.then_some(Outcome::Due(Due::Detected)),
    };
    Some(Outcome::Sdc(sdc))
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
            Self::NotLanded => Class::NotLanded,
        }
    }

    /// The sub-class in a word; `None` for a fault that did not land.
    #[must_use]
    pub fn kind(self) -> Option<Cow<'static, str>> {
        match self {
            Self::Masked(masked) => Some(masked.word().into()),
            Self::Sdc(sdc) => Some(sdc.word()),
            Self::Due(due) => Some(due.word().into()),
            Self::NotLanded => None,
        }
    }

    /// The outcome that [`class`](Self::class) and [`kind`](Self::kind) name, if they name one.
    #[must_use]
    pub fn from_words(class: Class, kind: Option<&str>) -> Option<Self> {
        match (class, kind) {
            (Class::Masked, Some(kind)) => kind.parse().ok().map(Self::Masked),
            (Class::Sdc, Some(kind)) => Sdc::from_word(kind).map(Self::Sdc),
            (Class::Due, Some(kind)) => Due::from_word(kind).map(Self::Due),
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
    /// The word for it: the trap's, the signal's, `hang` or `detected`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Crash(trap) => trap.word(),
            Self::Signal(signal) => signal.word(),
            Self::Hang => "hang",
            Self::Detected => "detected",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "hang" => Some(Self::Hang),
            "detected" => Some(Self::Detected),
            word => word.parse().map(Self::Crash).or_else(|_| word.parse().map(Self::Signal)).ok(),
        }
    }

    /// Every way, in the order in which reports list them.
    pub fn all() -> impl Iterator<Item = Self> {
        let signals = HostSignal::ALL.iter().copied().map(Self::Signal);
        TrapKind::ALL.iter().copied().map(Self::Crash).chain([Self::Hang, Self::Detected]).chain(signals)
    }
}
