//! What pilots come to, each counted for all sites that it stands for.

use campaign::{Finding, Results, Row, StoreError};
use outcome::{Class, Criteria, Outcome, Sdc, classify};
use std::collections::BTreeMap;

/// Error sites by what they come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteTally {
    /// By class of outcome, and by kind within it.
    pub(super) kinds: BTreeMap<(Class, String), u64>,
    /// Pilots that came to an outcome.
    pub(super) run: u64,
    /// The sites that they stand for, themselves included.
    pub(super) studied: u64,
    /// Pilots that failed, or hit nothing.
    pub(super) lost: u64,
}

impl SiteTally {
    /// By kernel, what the pilots of a campaign come to.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn of(results: &Results, judge: RowJudge<'_>) -> Result<BTreeMap<String, Self>, StoreError> {
        let mut kernels: BTreeMap<String, Self> = BTreeMap::new();
        results.visit(&mut |row| {
            let tally = kernels.entry(row.site.spot.kernel.clone()).or_default();
            let Some(outcome) = judge.outcome(&row) else {
                tally.lost += 1;
                return;
            };
            let kind = outcome.kind().map_or_else(String::new, |kind| kind.into_owned());
            *tally.kinds.entry((outcome.class(), kind)).or_default() += row.site.weight;
            tally.run += 1;
            tally.studied += row.site.weight;
        })?;
        Ok(kernels)
    }

    /// The sites of a class of outcome.
    pub(super) fn of_class(&self, class: Class) -> u64 {
        self.kinds.iter().filter(|((of, _), _)| *of == class).map(|(_, sites)| sites).sum()
    }

    /// Adds those of another kernel.
    pub(super) fn add(&mut self, other: &Self) {
        for (kind, sites) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_default() += sites;
        }
        self.run += other.run;
        self.studied += other.studied;
        self.lost += other.lost;
    }
}

/// How the rows of pilots are judged: as they are stored, if nothing is said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowJudge<'a> {
    /// By these criteria.
    pub(super) criteria: Option<&'a Criteria>,
    /// By run, corruptions whose error a command has said.
    pub(super) measured: Option<&'a BTreeMap<u64, Sdc>>,
}

impl<'a> From<Option<&'a Criteria>> for RowJudge<'a> {
    fn from(criteria: Option<&'a Criteria>) -> Self {
        Self { criteria, measured: None }
    }
}

impl RowJudge<'_> {
    /// The outcome of a row, if its pilot came to one.
    pub(super) fn outcome(self, row: &Row) -> Option<Outcome> {
        match self.measured.and_then(|measured| measured.get(&row.run.0)) {
            Some(sdc) => Some(Outcome::Sdc(*sdc)),
            None => judged(row, self.criteria),
        }
    }
}

/// The outcome of a row by criteria if there are some, else as it is stored; `None` if its pilot came to none.
pub(super) fn judged(row: &Row, criteria: Option<&Criteria>) -> Option<Outcome> {
    match &row.finding {
        Finding::Seen { outcome, observation, .. } if outcome.class().has_landed() => {
            Some(criteria.map_or(*outcome, |criteria| classify(observation, criteria)))
        }
        _ => None,
    }
}
