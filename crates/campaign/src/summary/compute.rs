//! Computing a summary from rows.

use std::collections::BTreeMap;

use stats::{Confidence, Decision, Interval, IntervalKind, Proportion};

use super::account::{Account, LineAccount, NamedAccount, Outcomes, Rate, StratumAccount};
use super::estimate::Estimator;
use super::registers::register_file;
use super::{Exhaustive, Runs, SUMMARY_FORMAT, Speed, Stopping, SubjectId, Summary};
use crate::config::{Choices, Config, MarginRule, Size};
use crate::store::{Count, RowCounts, Rows, Session, StoreError};
use crate::sweep::SweepSize;
use crate::tally::Tally;
use crate::target::Stratum;
use outcome::{Class, Due, Masked, Outcome, Sdc, Tier};

impl Summary {
    /// Summarises rows of the campaign `config`, of which `counts` is.
    pub(crate) fn of(config: &Config, rows: &Rows, counts: &RowCounts) -> Result<Self, StoreError> {
        let (tally, origin) = (counts.tally, rows.origin()?);
        let kinds = &counts.by_outcome;
        let size = origin.outline.map(|outline| outline.size);
        let kernels = tallies(&counts.by_kernel);
        let within = config.within_margin(&tally, &kernels);
        let remaining = remaining(config, &tally, &within, size);
        let estimator = Estimator::of(config, size, &origin.strata, kinds);
        let (method, confidence) = (config.interval.method(), config.level());
        let reading = Reading { estimator, judged: config.is_judged() };
        let by_kernel = reading.named(&counts.by_kernel);
        let runs = Runs {
            planned: tally.total() + remaining,
            landed: tally.landed(),
            not_landed: tally.not_landed,
            failed: tally.failed,
        };
        Ok(Self {
            format: SUMMARY_FORMAT.to_owned(),
            capsule: SubjectId { name: origin.name, digest: origin.digest },
            config: Choices { jobs: None, memory: None, ..Choices::from(config) },
            seed: config.seed,
            golden: origin.golden,
            races: origin.races,
            races_unsearched: origin.races_unsearched,
            runs,
            remaining: (remaining > 0).then_some(remaining),
            stopping: stopping(config, &tally, &kernels),
            exhaustive: size.map(|SweepSize { units, operands, members, .. }| Exhaustive { units, operands, members }),
            outcomes: reading.estimator.rates(kinds),
            bad: reading.bad(kinds),
            strata: reading.strata(&origin.strata, kinds, method, confidence),
            masked: breakdown(Class::Masked, Masked::ALL.iter().map(|&kind| Outcome::Masked(kind)), kinds),
            sdc: breakdown(Class::Sdc, SDC_KINDS.into_iter().map(Outcome::Sdc), kinds),
            due: breakdown(Class::Due, due_kinds().map(Outcome::Due), kinds),
            given_up: counts.given_up.clone(),
            host_visible: counts.host_visible,
            resolved: counts.resolved,
            register_file: register_file(origin.registers, &by_kernel, !origin.strata.is_empty(), method, confidence),
            by_kernel,
            by_group: reading.named(&counts.by_group),
            by_line: reading.lines(&counts.by_line),
            speed: speed(&rows.sessions()?, counts.tiers.clone(), method, confidence),
        })
    }
}

/// The kinds of silent corruption that are listed even when there are none; quality bins are listed when there are.
const SDC_KINDS: [Sdc; 4] = [Sdc::Unjudged, Sdc::Good, Sdc::Bad, Sdc::Detectable];

/// The kinds of detected errors that are listed in any case; signals of the host are listed when there are any.
fn due_kinds() -> impl Iterator<Item = Due> {
    Due::all().filter(|due| !matches!(due, Due::Signal(_)))
}

/// The runs still to be made, at most. Rows are written look by look, so a number of rows that is a look's is
/// exactly that look's rows, and the decision can be taken again from the tally.
fn remaining(config: &Config, tally: &Tally, within: &[Proportion], size: Option<SweepSize>) -> u64 {
    let done = tally.total();
    if let Some(size) = size {
        return size.faults.saturating_sub(done);
    }
    let stopped = config.sequential().is_some_and(|rule| {
        let look = rule.looks().iter().position(|&runs| runs == done);
        look.is_some_and(|look| rule.decide(look, within) == Decision::Stop)
    });
    if stopped { 0 } else { config.shard.share_of(config.planned()).saturating_sub(done) }
}

/// The classes of the rows of each part.
fn tallies(counts: &[Count]) -> Vec<Tally> {
    let mut tallies: BTreeMap<Option<&str>, Tally> = BTreeMap::new();
    for count in counts {
        tallies.entry(count.label.as_deref()).or_default().add(count.class, count.count);
    }
    tallies.into_values().collect()
}

/// How a campaign stops by margin, and how far it came.
fn stopping(config: &Config, all: &Tally, kernels: &[Tally]) -> Option<Stopping> {
    let (Size::Margin(asked), Some(rule)) = (config.size, config.sequential()) else {
        return None;
    };
    let (MarginRule { margin, by, at_most }, within) = (asked, &asked.proportions(all, kernels));
    let with_undecided = || rule.widest(within).max(rule.widest_between(&asked.with_undecided(all, kernels)));
    Some(Stopping {
        looks: rule.looks().len() as u64,
        level: rule.level().level(),
        confidence: config.confidence.level(),
        margin: margin.get(),
        by: by.word().to_owned(),
        at_most: at_most.unwrap_or_else(|| rule.worst_case()),
        widest: rule.widest(within),
        widest_with_undecided: (all.undecided > 0).then(with_undecided),
        reached: rule.is_reached(within),
    })
}

/// How many rows of a class there are of each kind; the usual kinds are listed in any case.
fn breakdown(class: Class, usual: impl Iterator<Item = Outcome>, counts: &[Count]) -> BTreeMap<String, u64> {
    let words = usual.filter_map(Outcome::kind).map(|kind| (kind.into_owned(), 0));
    let mut kinds: BTreeMap<String, u64> = words.collect();
    for count in counts.iter().filter(|count| count.class == class) {
        *kinds.entry(count.kind.clone().unwrap_or_default()).or_default() += count.count;
    }
    kinds
}

/// How counts become accounts.
struct Reading {
    estimator: Estimator,
    /// Whether corrupted outputs were judged.
    judged: bool,
}

impl Reading {
    /// The rate of what no criterion accepts; `None` where nothing was judged.
    fn bad(&self, counts: &[Count]) -> Option<Rate> {
        self.judged.then(|| self.estimator.rate(counts, &Count::is_bad))
    }

    /// The account of what some counts are of.
    fn account(&self, counts: &[Count]) -> Account {
        let bad = self.bad(counts);
        let counts = &by_class(counts);
        let mut tally = Tally::default();
        for count in counts {
            tally.add(count.class, count.count);
        }
        let outcomes = Outcomes { masked: tally.masked, sdc: tally.sdc, due: tally.due, undecided: tally.undecided };
        let Tally { not_landed, failed, .. } = tally;
        let (rates, intervals) = self.estimator.parts(counts);
        Account { runs: tally.total(), not_landed, failed, outcomes, rates, intervals: Some(intervals), bad }
    }

    /// One account for each label, from counts in the order of their labels.
    fn accounts<'c>(&'c self, counts: &'c [Count]) -> impl Iterator<Item = (&'c Count, Account)> {
        let labels = counts.chunk_by(|a, b| (&a.label, a.line) == (&b.label, b.line));
        labels.map(move |counts| (&counts[0], self.account(counts)))
    }

    fn named(&self, counts: &[Count]) -> Vec<NamedAccount> {
        let name = |count: &Count| count.label.clone().unwrap_or_default();
        self.accounts(counts).map(|(count, account)| NamedAccount { name: name(count), account }).collect()
    }

    fn lines(&self, counts: &[Count]) -> Vec<LineAccount> {
        let part = |(count, account): (&Count, _)| LineAccount { file: count.label.clone(), line: count.line, account };
        self.accounts(counts).map(part).collect()
    }

    /// Each stratum by itself, a plain sample.
    fn strata(
        &self,
        strata: &[Stratum],
        counts: &[Count],
        method: IntervalKind,
        confidence: Confidence,
    ) -> Vec<StratumAccount> {
        let all: f64 = strata.iter().map(|stratum| stratum.members as f64).sum();
        let plain = Self { estimator: Estimator::Plain(method, confidence), judged: self.judged };
        let part = |(number, stratum): (u32, &Stratum)| {
            let own: Vec<Count> = counts.iter().filter(|count| count.stratum == number).cloned().collect();
            StratumAccount {
                name: stratum.name.clone(),
                members: stratum.members,
                weight: stratum.members as f64 / all,
                account: plain.account(&own),
            }
        };
        (0..).zip(strata).map(part).collect()
    }
}

/// The counts of one label by class alone.
fn by_class(counts: &[Count]) -> Vec<Count> {
    let mut classes: BTreeMap<(&str, u64, u32, u64), Count> = BTreeMap::new();
    for count in counts {
        let key = (count.class.word(), count.inverse_weight, count.stratum, count.weight);
        let all = classes.entry(key).or_insert_with(|| Count { kind: None, count: 0, ..count.clone() });
        all.count += count.count;
    }
    classes.into_values().collect()
}

fn speed(
    sessions: &[Session],
    mut tiers: BTreeMap<String, u64>,
    method: IntervalKind,
    confidence: Confidence,
) -> Speed {
    let made = tiers.values().sum();
    let stopped = tiers.remove(Tier::Stopped.word()).filter(|&stopped| stopped > 0);
    if let Some(stopped) = stopped {
        *tiers.entry(Tier::Delta.word().to_owned()).or_default() += stopped;
    }
    let stopped_early = stopped.and_then(|count| {
        let share = Proportion::new(count, made)?;
        let Interval { low, high } = share.interval(method, confidence);
        Some(Rate { count, rate: share.rate(), low, high })
    });
    let seconds: f64 = sessions.iter().map(|session| session.seconds).sum();
    let runs: u64 = sessions.iter().map(|session| session.runs).fold(0, u64::saturating_add);
    Speed {
        seconds,
        runs_per_second: if seconds > 0.0 { runs as f64 / seconds } else { 0.0 },
        jobs: sessions.iter().map(|session| session.jobs).max().unwrap_or(0),
        tiers,
        stopped_early,
        memory: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_that_sampling_reaches_is_told_from_the_bounds_with_undecided_runs() {
        let choices = Choices { capsule: Some("it".into()), margin: Some(0.06), ..Choices::default() };
        let config = choices.settle().unwrap();
        let decided = Tally { masked: 700, sdc: 57, ..Tally::default() };
        let stopping = |tally: &Tally| stopping(&config, tally, &[*tally]).unwrap();
        let all = stopping(&decided);
        assert_eq!((all.reached, all.widest_with_undecided), (true, None));
        let open = stopping(&Tally { masked: 500, undecided: 200, ..decided });
        let level = Confidence::new(open.level).unwrap();
        let high = Proportion::new(257, 757).unwrap().wilson(level).high;
        assert!(open.reached && open.widest < 0.06);
        assert!((open.widest_with_undecided.unwrap() - (high - 57.0 / 757.0)).abs() < 0.02, "{open:?}");
        assert!(open.widest_with_undecided.unwrap() > 0.2);
    }
}
