//! The same faults on several machines, run by run.

use crate::kit::{Campaigns, OpenedCapsule, StudyError, StudySubject};
use campaign::{Finding, Results};
use inject::{CapsuleTarget, Golden, Machine, Setup};
use outcome::{Class, Outcome};
use stats::{Confidence, Proportion};
use std::collections::BTreeMap;
use std::sync::Arc;
use study::{Cell, Study, Table};

/// How a machine differs from that of the capsule, and what it is called.
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) change: Box<dyn Fn(Machine) -> Machine>,
}

/// What came of a run.
#[derive(Clone, PartialEq)]
struct RunOutcome {
    fault: String,
    class: Class,
    /// What kind of its class it is, in a word.
    kind: String,
}

/// The outcome of each run, by its number.
type RunOutcomes = BTreeMap<u64, RunOutcome>;

/// Fills a study: rates of each workload on each machine, and what changes against the first.
pub(super) fn compare(
    mut study: Study,
    variants: &[Variant],
    subjects: &[StudySubject],
    runs: u64,
    campaigns: &mut Campaigns<'_>,
) -> Result<Study, StudyError> {
    let columns = ["workload", "machine", "masked", "SDC", "DUE", "changed", "class changed"];
    let mut rates = Table::new("Rates of each workload on each machine", &columns);
    let mut undecided = 0;
    let columns = ["workload", "machine", "from", "to", "runs"];
    let mut moves = Table::new("What became what", &columns);
    for subject in subjects {
        let mut first: Option<RunOutcomes> = None;
        for variant in variants {
            let ends = match on(subject, variant)? {
                Ok(target) => {
                    ends(&campaigns.sampled(&target, &format!("{}:{}", study.name, variant.name), runs)?.results)?
                }
                Err(why) => {
                    rates.notes.push(format!("{} with {}: failed to {why}.", subject.name(), variant.name));
                    continue;
                }
            };
            let alone = first.is_none();
            let known = first.get_or_insert_with(|| ends.clone());
            if !same_faults(known, &ends) {
                rates.notes.push(format!("{} with {}: other sites without a fault.", subject.name(), variant.name));
                continue;
            }
            rates.rows.push(row(subject.name(), variant.name, (known, alone), &ends));
            undecided += pairs(known, &ends).filter(|(known, end)| is_open(known, end)).count();
            moves.rows.extend(moved(subject.name(), variant.name, known, &ends));
        }
    }
    if undecided > 0 {
        rates.notes.push(format!(
            "{undecided} runs are undecided here or there: the host saw a difference and was not asked. Bounds are those of none and of \
             all of them."
        ));
        moves.notes.push("Runs that are undecided here or there are left out.".to_owned());
    }
    study.tables.extend([rates, moves]);
    Ok(study)
}

/// The capsule on another machine; why not, if that cannot do its golden run.
fn on(subject: &StudySubject, variant: &Variant) -> Result<Result<OpenedCapsule, String>, StudyError> {
    let (capsule, golden) = (&subject.capsule, subject.capsule.golden_run());
    let same = Machine { addresses: Arc::clone(golden.addresses()), contract: golden.contract(), ..Machine::default() };
    let machine = (variant.change)(same);
    let setup = Setup {
        infer: true,
        fuel: golden.explicit_fuel(),
        opened_as: Some(capsule.opened_as().to_owned()),
        ..Setup::default()
    };
    match Golden::run_on(Arc::clone(golden.capsule()), machine) {
        Ok(golden) => Ok(Ok(capsule.variant(Arc::new(CapsuleTarget::set_up(golden, &setup)?))?)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

fn ends(results: &Results) -> Result<RunOutcomes, StudyError> {
    let mut ends = RunOutcomes::new();
    results.visit(&mut |row| {
        if let Finding::Seen { outcome, .. } = row.finding {
            let fault = row.site.fault().unwrap_or_default().to_owned();
            ends.insert(row.run.0, RunOutcome { fault, class: outcome.class(), kind: kind(&outcome) });
        }
    })?;
    Ok(ends)
}

/// What kind of its class an outcome is, in a word.
fn kind(outcome: &Outcome) -> String {
    outcome.kind().map_or_else(String::new, |kind| kind.into_owned())
}

/// Whether runs of one number have one fault.
fn same_faults(first: &RunOutcomes, ends: &RunOutcomes) -> bool {
    ends.iter().all(|(run, end)| first.get(run).is_some_and(|known| known.fault == end.fault))
}

/// The ends of each run: on the first machine and on another.
fn pairs<'e>(first: &'e RunOutcomes, ends: &'e RunOutcomes) -> impl Iterator<Item = (&'e RunOutcome, &'e RunOutcome)> {
    ends.iter().filter_map(|(run, end)| Some((first.get(run)?, end)))
}

/// Whether it is not known how a run ended on one of two machines.
fn is_open(known: &RunOutcome, end: &RunOutcome) -> bool {
    known.class == Class::Undecided || end.class == Class::Undecided
}

/// A machine against the first, or the first `alone`.
fn row(subject: &str, variant: &str, (first, alone): (&RunOutcomes, bool), ends: &RunOutcomes) -> Vec<Cell> {
    // Between bounds is what is so if none and if all of the runs counted of which it is not known.
    let share = |is: &dyn Fn(&RunOutcome, &RunOutcome) -> bool, may_be: &dyn Fn(&RunOutcome, &RunOutcome) -> bool| {
        let count = pairs(first, ends).filter(|(known, end)| is(known, end)).count() as u64;
        let open = pairs(first, ends).filter(|(known, end)| !is(known, end) && may_be(known, end)).count() as u64;
        let of = |count: u64| Proportion::from_counts(count, ends.len() as u64 - count);
        let bounds = |count| of(count).wilson(Confidence::PERCENT_95);
        let rate = |rate| Cell::Rate { rate, low: bounds(count).low, high: bounds(count + open).high };
        of(count).rate().map_or(Cell::None, rate)
    };
    let class = |class| share(&move |_, end| end.class == class, &|_, end| end.class == Class::Undecided);
    let is_open = |known: &RunOutcome, end: &RunOutcome| !alone && is_open(known, end);
    let changed = share(&|known, end| !is_open(known, end) && known != end, &is_open);
    let other_class = share(&|known, end| !is_open(known, end) && known.class != end.class, &is_open);
    vec![
        Cell::text(subject),
        Cell::text(variant),
        class(Class::Masked),
        class(Class::Sdc),
        class(Class::Due),
        changed,
        other_class,
    ]
}

/// Changes of class or kind, the most frequent first.
fn moved(subject: &str, variant: &str, first: &RunOutcomes, ends: &RunOutcomes) -> Vec<Vec<Cell>> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let word = |end: &RunOutcome| format!("{} {}", end.class.word(), end.kind).trim().to_owned();
    for (run, end) in ends {
        let Some(known) = first.get(run).filter(|known| *known != end && !is_open(known, end)) else { continue };
        *counts.entry((word(known), word(end))).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let cells = |((from, to), count)| {
        vec![Cell::text(subject), Cell::text(variant), Cell::Text(from), Cell::Text(to), Cell::Count(count)]
    };
    counts.into_iter().map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(classes: &[Class]) -> RunOutcomes {
        let end = |(run, class): (u64, &Class)| {
            (run, RunOutcome { fault: run.to_string(), class: *class, kind: String::new() })
        };
        (0..).zip(classes).map(end).collect()
    }

    #[test]
    fn what_is_undecided_on_a_machine_may_have_changed_or_not() {
        let (masked, sdc, open) = (Class::Masked, Class::Sdc, Class::Undecided);
        let first = ends(&[masked, masked, sdc, open, open]);
        let other = ends(&[masked, sdc, open, open, masked]);
        let cells = row("gemm", "turns", (&first, false), &other);
        let wilson = |count: u64| Proportion::from_counts(count, 5 - count).wilson(Confidence::PERCENT_95);
        let rate = |known: u64, most: u64| Cell::Rate {
            rate: known as f64 / 5.0,
            low: wilson(known).low,
            high: wilson(most).high,
        };
        // Masked, SDC and DUE there; changed, and to another class.
        assert_eq!(cells[2..], [rate(2, 4), rate(1, 3), rate(0, 2), rate(1, 4), rate(1, 4)]);
        assert_eq!(moved("gemm", "turns", &first, &other).len(), 1);
        let alone = row("gemm", "races", (&first, true), &first);
        assert_eq!(alone[5..], [rate(0, 0), rate(0, 0)]);
    }
}
