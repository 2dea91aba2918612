//! Judging again what was seen, by other criteria, without running anything.
//!
//! Criteria change how bad a silent corruption is, and never its class: what is masked, silent or detected follows from
//! the observation alone. Two things had to be known when outputs were compared, and cannot be changed afterwards: what
//! their elements are, and the range that these must not leave. An exhaustive campaign keeps outcomes and no
//! observations.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::Choices;
use crate::site::Site;
use crate::store::{Count, Finding, Results, Row, StoreError};
use crate::summary::{Estimator, Rate, Summary};
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
    bad: BadRates,
}

/// A label and a line, by which runs are counted.
type Label = (Option<String>, Option<u32>);

/// The rates of what no criterion accepts, where something is judged.
#[derive(Clone, Debug, Default, PartialEq)]
struct BadRates {
    all: Option<Rate>,
    /// By stratum.
    strata: Vec<Option<Rate>>,
    /// By kernel, group and line.
    parts: [BTreeMap<Label, Option<Rate>>; 3],
}

/// Runs by label and what they came to.
#[derive(Default)]
struct Relabelled {
    all: Vec<Count>,
    parts: [BTreeMap<Label, Vec<Count>>; 3],
}

impl Relabelled {
    fn add(&mut self, site: &Site, class: Class, kind: Option<String>) {
        let (stratum, weight) = (site.stratum.unwrap_or(0), site.weight);
        let count = Count { label: None, line: None, class, kind, count: 1, weight, inverse_weight: 1, stratum };
        let spot = &site.spot;
        let labels =
            [(Some(spot.kernel.clone()), None), (Some(spot.group.clone()), None), (spot.file.clone(), spot.line)];
        for (part, label) in self.parts.iter_mut().zip(labels) {
            add(part.entry(label).or_default(), &count);
        }
        add(&mut self.all, &count);
    }

    fn bad(&self, results: &Results) -> Result<BadRates, StoreError> {
        let strata = results.rows().origin()?.strata;
        let config = results.config();
        let estimator = Estimator::of(config, None, &strata, &self.all);
        let plain = Estimator::of(config, None, &[], &self.all);
        let of_stratum = |(number, _)| {
            let own: Vec<Count> = self.all.iter().filter(|count| count.stratum == number).cloned().collect();
            Some(plain.rate(&own, &Count::is_bad))
        };
        let rates = |part: &BTreeMap<Label, Vec<Count>>| {
            part.iter().map(|(label, counts)| (label.clone(), Some(estimator.rate(counts, &Count::is_bad)))).collect()
        };
        Ok(BadRates {
            all: Some(estimator.rate(&self.all, &Count::is_bad)),
            strata: (0..).zip(&strata).map(of_stratum).collect(),
            parts: self.parts.each_ref().map(rates),
        })
    }
}

/// Adds a run to those like it.
fn add(counts: &mut Vec<Count>, run: &Count) {
    let key = |count: &Count| (count.class, count.kind.clone(), count.stratum, count.weight);
    match counts.iter_mut().find(|count| key(count) == key(run)) {
        Some(count) => count.count += 1,
        None => counts.push(run.clone()),
    }
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
        let mut judged = Rejudged {
            criteria: criteria.clone().or(campaign.clone()),
            counts: BTreeMap::new(),
            failed: 0,
            bad: BadRates::default(),
        };
        let (mut checked, mut refused, mut relabelled) = (BTreeSet::new(), None, Relabelled::default());
        self.visit(&mut |Row { site, finding, .. }| {
            let Finding::Seen { observation, .. } = finding else {
                relabelled.add(&site, finding.class(), None);
                judged.failed += 1;
                return;
            };
            let unchecked = |output: &&OutputDiff| !checked.contains(&output.name);
            if let Some(output) = observation.outputs.iter().find(unchecked) {
                let name = output.name.clone();
                refused = refused.take().or(differs(&judged.criteria, campaign, &name));
                checked.insert(name);
            }
            let outcome = classify(&observation, &judged.criteria);
            relabelled.add(&site, outcome.class(), outcome.kind().map(Cow::into_owned));
            *judged.counts.entry(outcome).or_default() += 1;
        })?;
        let choices = Choices { criteria: judged.criteria.clone(), ..Choices::from(self.config()) };
        if choices.is_judged() {
            judged.bad = relabelled.bad(self)?;
        }
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
        summary.bad = self.bad.all;
        for (number, stratum) in summary.strata.iter_mut().enumerate() {
            stratum.account.bad = self.bad.strata.get(number).copied().flatten();
        }
        let [kernels, groups, lines] = &self.bad.parts;
        for (parts, rates) in [(&mut summary.by_kernel, kernels), (&mut summary.by_group, groups)] {
            for part in parts {
                part.account.bad = rates.get(&(Some(part.name.clone()), None)).copied().flatten();
            }
        }
        for part in &mut summary.by_line {
            part.account.bad = lines.get(&(part.file.clone(), part.line)).copied().flatten();
        }
        summary
    }
}
