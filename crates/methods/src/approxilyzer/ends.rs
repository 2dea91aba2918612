//! The outcomes of error sites by output quality (thesis, Section 2.3.2, Figure 2.2).

use outcome::{Outcome, Sdc};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The outcome of an error site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteEnd {
    /// The output is that of the golden run.
    Masked,
    /// The run trapped, hung, or was stopped by a check of its own.
    Detected,
    /// A detectable data corruption (DDC): a plain check of the output would notice it.
    Detectable,
    /// A corruption that is tolerable in any case.
    Good,
    /// A corruption that may be tolerable, with its quality bin. One that no criterion judges has no bin.
    Maybe(Option<u8>),
    /// A corruption that is not tolerable.
    Bad,
    /// The recorded application would have had to finish the run.
    Undecided,
    /// No pilot stands for the site, or its pilot was lost.
    NotCovered,
}

/// The word of an end in documents, its title in tables, and which ends it is.
type EndColumn = (&'static str, &'static str, fn(SiteEnd) -> bool);

/// The ends in the order of columns; all bins of a Maybe are one.
pub(super) const ENDS: [EndColumn; 8] = [
    ("masked", "masked", |end| end == SiteEnd::Masked),
    ("detected", "detected", |end| end == SiteEnd::Detected),
    ("detectable", "DDC", |end| end == SiteEnd::Detectable),
    ("good", "SDC-Good", |end| end == SiteEnd::Good),
    ("maybe", "SDC-Maybe", |end| matches!(end, SiteEnd::Maybe(_))),
    ("bad", "SDC-Bad", |end| end == SiteEnd::Bad),
    ("undecided", "undecided", |end| end == SiteEnd::Undecided),
    ("not_covered", "not covered", |end| end == SiteEnd::NotCovered),
];

/// Sites by their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EndCounts(BTreeMap<SiteEnd, u64>);

impl From<Outcome> for SiteEnd {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Masked(_) => Self::Masked,
            Outcome::Due(_) => Self::Detected,
            Outcome::Sdc(Sdc::Detectable) => Self::Detectable,
            Outcome::Sdc(Sdc::Good) => Self::Good,
            Outcome::Sdc(Sdc::Maybe(bin)) => Self::Maybe(Some(bin)),
            Outcome::Sdc(Sdc::Unjudged) => Self::Maybe(None),
            Outcome::Sdc(Sdc::Bad) => Self::Bad,
            Outcome::Undecided => Self::Undecided,
            Outcome::NotLanded => Self::NotCovered,
        }
    }
}

impl SiteEnd {
    /// Whether the output differs although the run completed: an output corruption (OC).
    pub(super) fn is_corruption(self) -> bool {
        matches!(self, Self::Detectable | Self::Good | Self::Maybe(_) | Self::Bad)
    }
}

impl EndCounts {
    /// Adds sites that end alike.
    pub(super) fn add(&mut self, end: SiteEnd, sites: u64) {
        *self.0.entry(end).or_default() += sites;
    }

    /// Adds other sites.
    pub(super) fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(end, sites)| self.add(*end, *sites));
    }

    /// The sites whose ends are such.
    pub(super) fn count(&self, such: impl Fn(SiteEnd) -> bool) -> u64 {
        self.0.iter().filter(|(end, _)| such(**end)).map(|(_, sites)| sites).sum()
    }

    /// The bins that occur, ascending, each with its sites.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u8, u64)> {
        self.0.iter().filter_map(|(end, sites)| match end {
            SiteEnd::Maybe(Some(bin)) => Some((*bin, *sites)),
            _ => None,
        })
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let mut all: Map<String, Value> =
            ENDS.iter().map(|(word, _, such)| ((*word).to_owned(), json!(self.count(such)))).collect();
        let bins: Map<String, Value> = self.bins().map(|(bin, sites)| (bin.to_string(), json!(sites))).collect();
        all.insert("maybe_by_bin".to_owned(), Value::Object(bins));
        Value::Object(all)
    }
}

impl<'a> FromIterator<&'a EndCounts> for EndCounts {
    fn from_iter<I: IntoIterator<Item = &'a EndCounts>>(counts: I) -> Self {
        let mut all = Self::default();
        counts.into_iter().for_each(|one| all.join(one));
        all
    }
}
