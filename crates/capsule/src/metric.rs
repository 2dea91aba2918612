//! By which number an output's tolerance is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number that the tolerance of an output bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The largest relative error of an element.
    #[default]
    MaxRel,
    /// The largest absolute error of an element.
    MaxAbs,
    /// The relative error of the whole, ‖found - golden‖₂ / ‖golden‖₂.
    RelL2,
    /// One that a newer version knows: what the tolerance bounds is not known here, so that it bounds nothing.
    #[serde(other)]
    Unknown,
}

/// A word that is no [`Metric`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read a metric: expected one of max-rel, max-abs, rel-l2, found `{found}`")]
pub struct UnknownMetric {
    /// The word.
    pub found: String,
}

impl Metric {
    /// All that are known.
    pub const ALL: [Self; 3] = [Self::MaxRel, Self::MaxAbs, Self::RelL2];

    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::MaxRel => "max-rel",
            Self::MaxAbs => "max-abs",
            Self::RelL2 => "rel-l2",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it is the one that is meant where none is named.
    #[must_use]
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|metric| metric.word() == word);
        found.ok_or_else(|| UnknownMetric { found: word.to_owned() })
    }
}
