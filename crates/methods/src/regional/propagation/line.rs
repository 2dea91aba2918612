//! One fault at a source line within its launch: the arrays, each time that its thread comes to the line.

use campaign::TargetError;
use fault::{Fault, base_name};
use inject::{Array, Arrival, CapsuleTarget, Corruption, LineSnapshots, locate};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use study::{Cell, Table};

use super::place::LinePlace;
use super::show::{finite, number};
use crate::kit::StudyError;

/// Times that are looked at, at most.
pub(super) const MOST: usize = 100;

/// A sentence on the memory that is looked at.
pub(super) const WHICH_MEMORY: &str = "Memory is that right before the instruction by which the thread comes to the line, as written by \
     the blocks before its own and by the threads of its own until then.";

/// A fault at a line.
pub(super) struct LineTimeline<'c> {
    snapshots: LineSnapshots,
    /// The arrays that are compared: those that are looked at after this launch.
    arrays: Vec<&'c Array>,
    /// The names of the others.
    unseen: Vec<&'c str>,
    /// The line, `FILE:LINE`.
    pub(super) place: String,
    /// The first words of the table.
    title: String,
    /// Whether threads of the kernel race, so that other orders would show something else.
    races: bool,
}

/// The values of an array at a moment, which is told in words: those of the golden run, and those of the faulty one.
pub(super) type ValuesFrame = (String, Vec<f64>, Vec<f64>);

impl<'c> LineTimeline<'c> {
    /// Runs a fault and looks at the line that `at` names, `FILE:LINE` or `LINE`.
    ///
    /// # Errors
    /// If the fault names no place, no instruction of its kernel is of the line, or its blocks take turns.
    pub(super) fn of(
        capsule: &'c CapsuleTarget,
        arrays: &'c [Array],
        fault: &Fault,
        at: &str,
    ) -> Result<Self, StudyError> {
        let launch = locate(capsule.golden_run(), fault).map_err(|error| StudyError::Words(error.to_string()))?;
        let place = LinePlace::of(capsule.golden_run(), &BTreeSet::from([fault.launch]), at)?;
        let none = BTreeSet::new();
        let instructions = place.instructions(fault.launch).unwrap_or(&none);
        let snapshots =
            capsule.line_snapshots(fault, instructions, MOST).map_err(|error| TargetError::from_error(&error))?;
        let races = capsule.golden_run().races().iter().any(|race| race.kernel == launch.program.name);
        let kernel = base_name(&launch.program.name);
        let title = format!("{} in {kernel}, thread {} of block {}", place.name, fault.thread, fault.cta);
        let (arrays, others): (Vec<_>, Vec<_>) = arrays.iter().partition(|it| it.is_seen_after(fault.launch));
        let unseen = others.into_iter().map(|it| it.name.as_str()).collect();
        Ok(Self { snapshots, arrays, unseen, place: place.name, title, races })
    }

    /// How many times both runs have.
    pub(super) fn times(&self) -> usize {
        self.snapshots.arrivals().len().min(self.snapshots.golden_arrivals().len())
    }

    /// The arrays that differ at a time that both runs have.
    fn corruptions(&self, time: usize) -> Vec<(&Array, Corruption)> {
        self.arrays.iter().filter_map(|&array| Some((array, self.snapshots.corruption(time, array)?))).collect()
    }

    /// The values of an array at each time that both runs have, if it is compared and differs at one.
    pub(super) fn frames(&self, array: &Array) -> Option<impl Fn(usize) -> ValuesFrame> {
        self.arrays.contains(&array).then_some(())?;
        (0..self.times()).any(|time| self.snapshots.corruption(time, array).is_some()).then_some(())?;
        let place = &self.place;
        Some(move |time| {
            let (golden, found) = self.snapshots.values(time, array);
            let executed = self.snapshots.arrivals()[time].executed;
            (format!("at {place}, time {time}, instruction {executed} of the thread"), golden, found)
        })
    }

    /// The times as a table.
    pub(super) fn table(&self) -> Table {
        let columns =
            ["time", "instruction", "without the fault", "variable", "elements", "of", "largest error", "mean error"];
        let mut table = Table::new(self.title.clone(), &columns);
        let (found, golden) = (self.snapshots.arrivals(), self.snapshots.golden_arrivals());
        let executed =
            |all: &[Arrival], time: usize| all.get(time).map_or(Cell::None, |arrival| Cell::Count(arrival.executed));
        for time in 0..found.len() {
            let head = || vec![Cell::Count(time as u64), executed(found, time), executed(golden, time)];
            let corruptions = if time < golden.len() { Some(self.corruptions(time)) } else { None };
            let nothing = match corruptions.as_deref() {
                None => Some(Cell::None),
                Some([]) => Some(Cell::Count(0)),
                Some(_) => None,
            };
            table.rows.extend(
                nothing
                    .map(|elements| [head(), vec![Cell::None, elements, Cell::None, Cell::None, Cell::None]].concat()),
            );
            table.rows.extend(corruptions.into_iter().flatten().map(|(array, bad)| {
                let of_array = vec![
                    Cell::text(&array.name),
                    Cell::Count(bad.elements),
                    Cell::Count(array.elements()),
                    number(Some(bad.max_abs)),
                    number(Some(bad.sum_abs / bad.elements as f64)),
                ];
                [head(), of_array].concat()
            }));
        }
        table.notes = self.notes();
        table
    }

    /// Sentences on the times.
    fn notes(&self) -> Vec<String> {
        let (found, golden) = (self.snapshots.arrivals(), self.snapshots.golden_arrivals());
        let place = &self.place;
        let mut notes = Vec::new();
        let mut note = |holds: bool, text: String| notes.extend(holds.then_some(text));
        note(
            found.is_empty(),
            format!(
                "The thread does not come to {place} from the fault on{}.",
                if golden.is_empty() { ", with or without it" } else { "" }
            ),
        );
        let parted = found.iter().zip(golden).position(|(found, golden)| found != golden);
        note(parted.is_some(), {
            let time = parted.unwrap_or_default();
            format!(
                "From time {time} on the thread has gone another way than without the fault; times with the same number are compared."
            )
        });
        let (here, there) = (found.len(), golden.len());
        note(
            here > there,
            format!(
                "Without the fault the thread comes there {there} times: there is nothing to compare the later ones with."
            ),
        );
        note(here < there, {
            let least = if self.snapshots.is_cut() { "at least " } else { "" };
            format!("Without the fault the thread comes there {least}{there} times, with it {here} times.")
        });
        note(
            self.snapshots.is_cut(),
            format!("The thread comes there more often; the first {MOST} times are looked at."),
        );
        note(
            self.snapshots.is_unfinished(),
            "With the fault its block waits for another one, or goes on for longer than is waited for; times after that are not seen."
                .to_owned(),
        );
        note(!found.is_empty(), WHICH_MEMORY.to_owned());
        note(
            !self.unseen.is_empty(),
            format!("Not compared, as looked at after other launches only: {}.", self.unseen.join(", ")),
        );
        note(
            self.races,
            "Threads of this kernel race: in another order memory may hold something else at these times.".to_owned(),
        );
        notes
    }

    /// The times as a document.
    pub(super) fn document(&self) -> Value {
        let golden = self.snapshots.golden_arrivals();
        let times = self.snapshots.arrivals().iter().enumerate().map(|(time, arrival)| {
            let differs = (time < golden.len()).then(|| {
                let of = |(array, bad): (&Array, Corruption)| {
                    json!({
                        "variable": array.name,
                        "elements": bad.elements,
                        "first": bad.extent.ends.0,
                        "last": bad.extent.ends.1,
                        "rows": bad.extent.rows,
                        "columns": bad.extent.columns,
                        "max_abs": finite(bad.max_abs),
                        "sum_abs": finite(bad.sum_abs),
                    })
                };
                self.corruptions(time).into_iter().map(of).collect::<Vec<_>>()
            });
            json!({
                "time": time,
                "instruction": arrival.executed,
                "golden_instruction": golden.get(time).map(|it| it.executed),
                "differs": differs,
            })
        });
        json!({
            "line": self.place,
            "times": times.collect::<Vec<_>>(),
            "golden_times": golden.len(),
            "cut": self.snapshots.is_cut(),
            "unfinished": self.snapshots.is_unfinished(),
            "not_compared": self.unseen,
            "races": self.races,
        })
    }
}
