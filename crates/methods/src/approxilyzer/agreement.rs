//! When the outcome of a pilot predicts that of a member of its class (thesis, Section 2.4.3).

use serde_json::{Map, Value, json};

use super::ends::SiteEnd;

/// The use of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nothing in particular: every outcome is one of its own.
    Any,
    /// Which instructions need protection: masked, SDC-Good, DDC and detected do not.
    Resilience,
    /// Which instructions may be approximated: masked and SDC-Good may, SDC-Bad, DDC and detected may not.
    Approximation,
}

/// A purpose, and how far apart the quality bins of SDC-Maybe may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    /// The purpose.
    pub(super) purpose: Purpose,
    /// The distance δ of bins.
    pub(super) delta: u8,
}

/// The agreements that are counted, by purpose and δ.
pub(super) const AGREEMENTS: [Agreement; 9] = [
    Agreement { purpose: Purpose::Any, delta: 0 },
    Agreement { purpose: Purpose::Any, delta: 1 },
    Agreement { purpose: Purpose::Any, delta: 2 },
    Agreement { purpose: Purpose::Resilience, delta: 0 },
    Agreement { purpose: Purpose::Resilience, delta: 1 },
    Agreement { purpose: Purpose::Resilience, delta: 2 },
    Agreement { purpose: Purpose::Approximation, delta: 0 },
    Agreement { purpose: Purpose::Approximation, delta: 1 },
    Agreement { purpose: Purpose::Approximation, delta: 2 },
];

/// The positions of δres = 2 and δapprox = 2 among [`AGREEMENTS`].
pub(super) const WIDEST: [usize; 2] = [5, 8];

impl Agreement {
    /// Whether the end of a pilot predicts that of a member.
    pub(super) fn holds(self, pilot: SiteEnd, member: SiteEnd) -> bool {
        match (pilot, member) {
            (SiteEnd::Maybe(Some(one)), SiteEnd::Maybe(Some(other))) => one.abs_diff(other) <= self.delta,
            _ => self.purpose.joined(pilot) == self.purpose.joined(member),
        }
    }
}

impl Purpose {
    /// The key of the purpose in documents.
    fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Resilience => "resilience",
            Self::Approximation => "approximation",
        }
    }

    /// One of the ends that the purpose does not tell apart from this one.
    fn joined(self, end: SiteEnd) -> SiteEnd {
        match (self, end) {
            (Self::Resilience, SiteEnd::Good | SiteEnd::Detectable | SiteEnd::Detected) => SiteEnd::Masked,
            (Self::Approximation, SiteEnd::Good) => SiteEnd::Masked,
            (Self::Approximation, SiteEnd::Detectable | SiteEnd::Detected) => SiteEnd::Bad,
            _ => end,
        }
    }
}

/// A value for each agreement, by purpose and then by δ.
pub(super) fn document<T>(values: &[T; 9], of: impl Fn(&T) -> Value) -> Value {
    let mut all = Map::new();
    for (agreement, value) in AGREEMENTS.iter().zip(values) {
        let by_delta = all.entry(agreement.purpose.word()).or_insert_with(|| json!({}));
        by_delta[format!("delta_{}", agreement.delta)] = of(value);
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of these members, in percent, that a pilot predicts.
    fn predicted(pilot: SiteEnd, members: &[(SiteEnd, u32)]) -> [u32; 9] {
        let share =
            |of: Agreement| members.iter().filter(|(end, _)| of.holds(pilot, *end)).map(|(_, share)| share).sum();
        AGREEMENTS.map(share)
    }

    #[test]
    fn the_examples_of_the_thesis_have_its_accuracies() {
        let members = [(SiteEnd::Detectable, 85), (SiteEnd::Detected, 7), (SiteEnd::Good, 5), (SiteEnd::Bad, 3)];
        assert_eq!(predicted(SiteEnd::Detectable, &members), [85, 85, 85, 97, 97, 97, 95, 95, 95]);
        let maybe = |bin| SiteEnd::Maybe(Some(bin));
        let members = [(maybe(12), 86), (maybe(13), 6), (maybe(10), 5), (SiteEnd::Bad, 3)];
        assert_eq!(predicted(maybe(12), &members), [86, 92, 97].repeat(3)[..]);
    }

    #[test]
    fn what_no_criterion_judges_agrees_with_itself_alone() {
        let unjudged = SiteEnd::Maybe(None);
        let members = [(unjudged, 60), (SiteEnd::Maybe(Some(0)), 30), (SiteEnd::Undecided, 10)];
        assert_eq!(predicted(unjudged, &members), [60; 9]);
        assert_eq!(predicted(SiteEnd::Undecided, &members), [10; 9]);
    }
}
