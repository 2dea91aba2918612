//! Computing a summary from rows.

use std::collections::BTreeMap;

use stats::{Confidence, Decision, Interval, Method};

use super::{
    Account, Capsule, Exhaustive, LinePart, Outcomes, Part, Rate, Runs, SUMMARY_FORMAT, Speed, Stopping, Summary,
};
use crate::config::{Choices, Config};
use crate::outcome::{Class, Due, Masked, Outcome, Sdc};
use crate::store::{By, Count, Rows, Session, StoreError};
use crate::sweep::Extent;
use crate::tally::Tally;

impl Summary {
    /// Summarises rows of the campaign `config`.
    pub(crate) fn of(config: &Config, rows: &Rows) -> Result<Self, StoreError> {
        let (tally, subject) = (rows.tally()?, rows.subject()?);
        let kinds = rows.counts(By::Outcome)?;
        let extent = subject.outline.map(|outline| outline.extent);
        let (swept, remaining) = (extent.is_some(), remaining(config, &tally, extent));
        let rule = config.sequential();
        let confidence = rule.as_ref().map_or(config.confidence, |rule| rule.level());
        let runs = Runs {
            planned: tally.total() + remaining,
            landed: tally.landed(),
            not_landed: tally.not_landed,
            failed: tally.failed,
        };
        Ok(Self {
            format: SUMMARY_FORMAT.to_owned(),
            capsule: Capsule { name: subject.name, digest: subject.digest },
            config: Choices { jobs: None, memory: None, ..Choices::from(config) },
            seed: config.seed,
            golden: subject.golden,
            runs,
            remaining: (remaining > 0).then_some(remaining),
            stopping: rule.map(|rule| Stopping { looks: rule.looks().len() as u64, level: rule.level().level() }),
            exhaustive: extent.map(|Extent { units, operands, members, .. }| Exhaustive { units, operands, members }),
            outcomes: match extent {
                Some(_) => exact(&tally, &kinds),
                None => rates(&tally, config.interval.method(), confidence),
            },
            masked: breakdown(Class::Masked, Masked::ALL.iter().map(|&kind| Outcome::Masked(kind)), &kinds),
            sdc: breakdown(Class::Sdc, SDC_KINDS.into_iter().map(Outcome::Sdc), &kinds),
            due: breakdown(Class::Due, due_kinds().map(Outcome::Due), &kinds),
            host_visible: rows.host_visible()?,
            resolved: rows.resolved()?,
            by_kernel: named(&rows.counts(By::Kernel)?, swept),
            by_group: named(&rows.counts(By::Group)?, swept),
            by_line: lines(&rows.counts(By::Line)?, swept),
            speed: speed(&rows.sessions()?, rows.tiers()?),
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
fn remaining(config: &Config, tally: &Tally, extent: Option<Extent>) -> u64 {
    let done = tally.total();
    if let Some(extent) = extent {
        return extent.faults.saturating_sub(done);
    }
    let stopped = config.sequential().is_some_and(|rule| {
        let look = rule.looks().iter().position(|&runs| runs == done);
        look.is_some_and(|look| rule.decide(look, &tally.proportions()) == Decision::Stop)
    });
    if stopped { 0 } else { config.shard.share_of(config.planned()).saturating_sub(done) }
}

fn rates(tally: &Tally, method: Method, confidence: Confidence) -> Outcomes<Rate> {
    let [masked, sdc, due] = tally.proportions().map(|proportion| {
        let Interval { low, high } = proportion.interval(method, confidence);
        Rate { count: proportion.successes(), rate: proportion.rate(), low, high }
    });
    Outcomes { masked, sdc, due }
}

/// The rates of an exhaustive campaign. Between its bounds there is nothing, once anything has landed.
fn exact(tally: &Tally, counts: &[Count]) -> Outcomes<Rate> {
    let rates = weigh(counts);
    let rate = |count, rate: Option<f64>| Rate { count, rate, low: rate.unwrap_or(0.0), high: rate.unwrap_or(1.0) };
    Outcomes {
        masked: rate(tally.masked, rates.map(|rates| rates.masked)),
        sdc: rate(tally.sdc, rates.map(|rates| rates.sdc)),
        due: rate(tally.due, rates.map(|rates| rates.due)),
    }
}

/// The share of each class in the weight of what landed. The number of dynamic instructions, which divides every
/// weight, cancels out. Sums are taken in the order of `counts`, so that equal counts give equal bits.
fn weigh(counts: &[Count]) -> Option<Outcomes<f64>> {
    let sum = |class| {
        let counts = counts.iter().filter(|count| count.class == class);
        counts.map(|count| count.count as f64 / count.inverse_weight as f64).fold(0.0, |sum, weight| sum + weight)
    };
    let weights = [Class::Masked, Class::Sdc, Class::Due].map(sum);
    let landed = weights[0] + weights[1] + weights[2];
    let [masked, sdc, due] = weights.map(|weight| weight / landed);
    (landed > 0.0).then_some(Outcomes { masked, sdc, due })
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

/// One account for each label, from counts in the order of their labels.
fn accounts(counts: &[Count], swept: bool) -> impl Iterator<Item = (&Count, Account)> {
    counts.chunk_by(|a, b| (&a.label, a.line) == (&b.label, b.line)).map(move |counts| {
        let mut tally = Tally::default();
        for count in counts {
            tally.add(count.class, count.count);
        }
        let outcomes = Outcomes { masked: tally.masked, sdc: tally.sdc, due: tally.due };
        let Tally { not_landed, failed, .. } = tally;
        let rates = if swept { weigh(counts) } else { None };
        (&counts[0], Account { runs: tally.total(), not_landed, failed, outcomes, rates })
    })
}

fn named(counts: &[Count], swept: bool) -> Vec<Part> {
    let part = |(count, account): (&Count, _)| Part { name: count.label.clone().unwrap_or_default(), account };
    accounts(counts, swept).map(part).collect()
}

fn lines(counts: &[Count], swept: bool) -> Vec<LinePart> {
    let part = |(count, account): (&Count, _)| LinePart { file: count.label.clone(), line: count.line, account };
    accounts(counts, swept).map(part).collect()
}

fn speed(sessions: &[Session], tiers: BTreeMap<String, u64>) -> Speed {
    let seconds: f64 = sessions.iter().map(|session| session.seconds).sum();
    let runs: u64 = sessions.iter().map(|session| session.runs).fold(0, u64::saturating_add);
    Speed {
        seconds,
        runs_per_second: if seconds > 0.0 { runs as f64 / seconds } else { 0.0 },
        jobs: sessions.iter().map(|session| session.jobs).max().unwrap_or(0),
        tiers,
        memory: None,
    }
}
