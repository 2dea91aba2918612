//! Faults in the instructions that kernels had before: how soon each scheme detects them, and whether before an error is stored.

use methods::hardening::Scheme;
use stats::{Confidence, Proportion, median};
use study::{Cell, Table};

use super::rules::{Claim, each, unmeasured};
use super::survey::{DetectedFaults, SinrgSurvey, detecting};
use crate::statements::{Statement, Verdict};

fn of(survey: &SinrgSurvey, scheme: Scheme) -> impl Iterator<Item = &DetectedFaults> {
    survey.detected.iter().filter(move |it| it.scheme == scheme)
}

/// Latency and containment by scheme.
pub(super) fn table(survey: &SinrgSurvey) -> Table {
    let columns = ["scheme", "workloads", "detected faults", "latency, median", "latency, 95 % within", "contained"];
    let mut table = Table::new("Detected faults in the originals", &columns);
    for scheme in detecting() {
        let all: Vec<&DetectedFaults> = of(survey, scheme).collect();
        let typical = |latency: fn(&DetectedFaults) -> f64| {
            let values: Vec<f64> = all.iter().map(|it| latency(it)).collect();
            let low = values.iter().copied().reduce(f64::min)?;
            let high = values.iter().copied().reduce(f64::max)?;
            Some(Cell::Quantity { value: median(&values, Confidence::PERCENT_95)?.value, low, high })
        };
        let middle = typical(|it| it.summary.latency.median);
        let Some((middle, most)) = middle.zip(typical(|it| it.summary.latency.p95 as f64)) else { continue };
        let sum = |count: fn(&DetectedFaults) -> u64| all.iter().map(|it| count(it)).sum::<u64>();
        let (detected, contained) = (sum(|it| it.detected), sum(|it| it.summary.contained.count));
        let bounds = Proportion::from_counts(contained, detected - contained).wilson(Confidence::PERCENT_95);
        let contained = Cell::Rate { rate: contained as f64 / detected as f64, low: bounds.low, high: bounds.high };
        let (scheme, workloads) = (Cell::text(scheme.word()), Cell::Count(all.len() as u64));
        table.rows.push(vec![scheme, workloads, Cell::Count(detected), middle, most, contained]);
    }
    table
}

/// The statements of the chapter about them.
pub(super) fn detection(survey: &SinrgSurvey) -> Vec<Statement> {
    use Scheme::{Drdv, FastsigDrdv, FastsigSriv, Sriv, Tld, TldSig};
    let contains = |claim: Claim<'_>, scheme| {
        let found = of(survey, scheme).map(|it| (&*it.name, Verdict::plain(it.summary.contained.count == it.detected)));
        each(claim, "no detected fault of our workloads had stored an error before", found)
    };
    let lets_pass = |claim: Claim<'_>, scheme| {
        let found = of(survey, scheme).map(|it| (&*it.name, Verdict::plain(it.summary.contained.count < it.detected)));
        each(claim, "some detected faults of each of our workloads had stored an error before", found)
    };
    let later = |claim: Claim<'_>, deferred, base| {
        let found = of(survey, deferred).filter_map(|it| {
            let other = of(survey, base).find(|other| other.name == it.name)?;
            Some((&*it.name, is_above(it, other)))
        });
        each(
            claim,
            "the interval of the median latency is above that of the other scheme in each of our workloads",
            found,
        )
    };
    let proxy = "it is a performance proxy, which detects nothing";
    vec![
        contains(("DRDV with a notification after each comparison contains errors (Section 4.3.3)", "yes"), Drdv),
        contains(("SRIV with a notification after each comparison contains errors (Section 4.3.3)", "yes"), Sriv),
        lets_pass(
            ("FastSig-DRDV lets some errors reach memory before it notifies (Section 4.3.3)", "some"),
            FastsigDrdv,
        ),
        lets_pass(
            ("FastSig-SRIV lets some errors reach memory before it notifies (Section 4.3.3)", "some"),
            FastsigSriv,
        ),
        later(("FastSig-DRDV detects later than base DRDV (Section 4.1)", "where a kernel ends"), FastsigDrdv, Drdv),
        later(("FastSig-SRIV detects later than base SRIV (Section 4.1)", "where a kernel ends"), FastsigSriv, Sriv),
        contains(("TLD compares each memory write and notifies there (Section 4.5.1)", "each write"), Tld),
        later(("TLD-Sig detects later than TLD (Section 4.5.1)", "where a function ends"), TldSig, Tld),
        unmeasured(("HW-Notify contains errors (Section 4.3.3)", "yes"), proxy),
        unmeasured(("HW-Sig detects as late as FastSig (Section 4.3.3)", "similar"), proxy),
    ]
}

/// Whether the median latency of one is above that of the other: undecided if the intervals touch.
fn is_above(one: &DetectedFaults, other: &DetectedFaults) -> Verdict {
    let (one, other) = (one.summary.latency, other.summary.latency);
    if one.low > other.high {
        Verdict::Holds
    } else if one.high < other.low {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}
