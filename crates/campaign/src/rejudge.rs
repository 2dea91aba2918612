//! Judging again what was seen, by other criteria, without running anything.
//!
//! Criteria change how bad a silent corruption is, and never its class: what is masked, silent or detected follows from
//! the observation alone. Two things had to be known when outputs were compared, and cannot be changed afterwards: what
//! their elements are, and the range that these must not leave. An exhaustive campaign keeps outcomes and no
//! observations.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Choices;
use crate::store::{Finding, Results, Row, StoreError};
use crate::summary::Summary;
use outcome::{Class, Criteria, Outcome, OutputDiff, classify};

/// Why results cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    /// There are no observations.
    #[error(
        "judge the faults of an exhaustive campaign again: it keeps outcomes only; \
         run it again with these criteria, or sample with `runs`"
    )]
    Exhaustive,
    /// Other elements than were compared.
    #[error(
        "read the output `{output}` as other elements than the campaign did: its runs were compared as those; \
         run it again with `--quality`"
    )]
    Element {
        /// The output.
        output: String,
    },
    /// Another range than was looked for.
    #[error(
        "look for elements of `{output}` outside another range than the campaign did: its runs counted those; \
         run it again with `--quality`"
    )]
    Range {
        /// The output.
        output: String,
    },
    /// The rows cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the rows of a campaign come to by other criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejudged {
    /// The criteria: those given, and the campaign's where these say nothing.
    pub criteria: Criteria,
    /// How many runs came to each outcome.
    pub counts: BTreeMap<Outcome, u64>,
    /// Runs that could not be made.
    pub failed: u64,
}

impl Results {
    /// Classifies every row again, by `criteria` and, for outputs of which they say nothing, by the campaign's own.
    ///
    /// # Errors
    /// When there are no observations, the criteria ask for another range or other elements than were compared, or a
    /// row cannot be read.
    pub fn rejudge(&self, criteria: &Criteria) -> Result<Rejudged, RejudgeError> {
        if self.is_exhaustive() {
            return Err(RejudgeError::Exhaustive);
        }
        let campaign = &self.config().criteria;
        let mut judged =
            Rejudged { criteria: criteria.clone().or(campaign.clone()), counts: BTreeMap::new(), failed: 0 };
        let (mut checked, mut refused) = (BTreeSet::new(), None);
        self.visit(&mut |row| {
            let Row { finding: Finding::Seen { observation, .. }, .. } = row else {
                judged.failed += 1;
                return;
            };
            let unchecked = |output: &&OutputDiff| !checked.contains(&output.name);
            if let Some(output) = observation.outputs.iter().find(unchecked) {
                let name = output.name.clone();
                refused = refused.take().or(differs(&judged.criteria, campaign, &name));
                checked.insert(name);
            }
            *judged.counts.entry(classify(&observation, &judged.criteria)).or_default() += 1;
        })?;
        refused.map_or(Ok(judged), Err)
    }
}

/// What was compared otherwise of an output.
fn differs(criteria: &Criteria, campaign: &Criteria, output: &str) -> Option<RejudgeError> {
    let name = output.to_owned();
    if criteria.element_of(output) != campaign.element_of(output) {
        Some(RejudgeError::Element { output: name })
    } else if criteria.range_of(output) != campaign.range_of(output) {
        Some(RejudgeError::Range { output: name })
    } else {
        None
    }
}

impl Rejudged {
    /// The campaign's summary with these kinds and criteria in the place of its own.
    #[must_use]
    pub fn summary(&self, summary: Summary) -> Summary {
        let config = Choices { criteria: self.criteria.clone(), ..summary.config };
        let mut summary = Summary { config, ..summary };
        let classes =
            [(Class::Masked, &mut summary.masked), (Class::Sdc, &mut summary.sdc), (Class::Due, &mut summary.due)];
        for (class, kinds) in classes {
            // The usual kinds stay listed; bins only where something is in them.
            kinds.retain(|kind, _| !kind.starts_with("maybe_"));
            kinds.values_mut().for_each(|count| *count = 0);
            for (outcome, &count) in self.counts.iter().filter(|(outcome, _)| outcome.class() == class) {
                *kinds.entry(outcome.kind().unwrap_or_default().into_owned()).or_default() += count;
            }
        }
        summary
    }
}
