//! Many faults at a source line within their launches: what differs of each variable when their threads come to the line.

use campaign::{Site, TargetError};
use fault::{Fault, base_name};
use inject::site::fault_of;
use inject::{Array, CapsuleTarget, Corruption, InjectError, LineSnapshots, LineTracker};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use study::{Cell, Table};

use super::follow::for_each;
use super::line::{MOST, WHICH_MEMORY};
use super::place::LinePlace;
use super::show::{finite, number};
use crate::kit::StudyError;
use crate::regional::tally::quartiles;

/// Faults at a line.
pub(super) struct LineSpread<'c> {
    capsule: &'c CapsuleTarget,
    arrays: &'c [Array],
    place: LinePlace,
    /// Those that are planned, by run.
    faults: Vec<Fault>,
    /// Those that are looked at: the region and the run.
    landed: Vec<(String, usize)>,
    counts: Counts,
}

/// The faults, counted by how they come to the line.
#[derive(Default)]
struct Counts {
    /// By region and the place of the variable.
    variables: BTreeMap<(String, usize), VariableAtLine>,
    /// Faults whose launches were looked into.
    seen: u64,
    /// Faults in kernels without the line.
    elsewhere: u64,
    /// Faults in launches whose blocks take turns.
    together: u64,
    /// Faults whose thread comes to the line more often than is looked at, in either run.
    cut: u64,
    /// Faults whose block waits for another one, or goes on for longer than is waited for.
    unfinished: u64,
    /// Faults whose thread comes to the line in another way than without the fault.
    parted: u64,
    /// Faults whose thread comes to the line more often, or less, than without the fault.
    uneven: u64,
    /// Kernels with such faults whose threads race.
    races: BTreeSet<String>,
}

/// The state of a variable when the threads with faults of a region come to the line.
#[derive(Default)]
struct VariableAtLine {
    /// Faults after whose launch the variable is looked at.
    faults: u64,
    /// Those whose thread comes to the line afterwards, with and without the fault.
    reached: u64,
    /// Those in which the variable differs at the first time that both runs have, at the last one, and at any.
    first: u64,
    last: u64,
    any: u64,
    /// The elements that differ at the last time, a number for each fault in which some do.
    elements: Vec<f64>,
    /// The largest error at any time, where there is one.
    max_abs: Option<f64>,
}

impl VariableAtLine {
    /// Adds a fault, by what differs at each time that both runs have.
    fn add(&mut self, times: &[Option<Corruption>]) {
        self.faults += 1;
        self.reached += u64::from(!times.is_empty());
        self.first += u64::from(matches!(times.first(), Some(Some(_))));
        self.any += u64::from(times.iter().any(Option::is_some));
        if let Some(Some(last)) = times.last() {
            self.last += 1;
            self.elements.push(last.elements as f64);
        }
        // Of elements without a type there is no error.
        let errors = times.iter().flatten().map(|bad| bad.max_abs).filter(|error| !error.is_nan());
        self.max_abs = self.max_abs.into_iter().chain(errors).reduce(f64::max);
    }
}

impl Counts {
    /// Adds a fault of a region whose launch was looked into.
    fn add(&mut self, region: &str, fault: &Fault, arrays: &[Array], snapshots: &LineSnapshots) {
        let (found, golden) = (snapshots.arrivals(), snapshots.golden_arrivals());
        self.seen += 1;
        self.cut += u64::from(snapshots.is_cut());
        self.unfinished += u64::from(snapshots.is_unfinished());
        self.parted += u64::from(found.iter().zip(golden).any(|(found, golden)| found != golden));
        self.uneven += u64::from(found.len() != golden.len());
        let times = found.len().min(golden.len());
        for (place, array) in arrays.iter().enumerate().filter(|(_, array)| array.is_seen_after(fault.launch)) {
            let times: Vec<_> = (0..times).map(|time| snapshots.corruption(time, array)).collect();
            self.variables.entry((region.to_owned(), place)).or_default().add(&times);
        }
    }

    /// Adds what others counted.
    fn merge(&mut self, other: Self) {
        let Self { variables, seen, elsewhere, together, cut, unfinished, parted, uneven, races } = other;
        self.seen += seen;
        self.elsewhere += elsewhere;
        self.together += together;
        self.cut += cut;
        self.unfinished += unfinished;
        self.parted += parted;
        self.uneven += uneven;
        self.races.extend(races);
        for (key, it) in variables {
            let of = self.variables.entry(key).or_default();
            of.faults += it.faults;
            of.reached += it.reached;
            of.first += it.first;
            of.last += it.last;
            of.any += it.any;
            of.elements.extend(it.elements);
            of.max_abs = of.max_abs.into_iter().chain(it.max_abs).reduce(f64::max);
        }
    }
}

impl<'c> LineSpread<'c> {
    /// The line that `at` names, `FILE:LINE` or `LINE`, for the faults of sites.
    ///
    /// # Errors
    /// If a site has no fault, or no kernel with a fault has an instruction of the line.
    pub(super) fn of(
        capsule: &'c CapsuleTarget,
        arrays: &'c [Array],
        sites: &[Site],
        at: &str,
    ) -> Result<Self, StudyError> {
        let faults: Result<Vec<Fault>, _> = sites.iter().map(fault_of).collect();
        let faults = faults.map_err(|error| StudyError::Words(error.to_string()))?;
        let launches = faults.iter().map(|fault| fault.launch).collect();
        let place = LinePlace::of(capsule.golden_run(), &launches, at)?;
        Ok(Self { capsule, arrays, place, faults, landed: Vec::new(), counts: Counts::default() })
    }

    /// Adds a run of a region that landed.
    pub(super) fn add(&mut self, region: &str, run: usize) {
        self.landed.push((region.to_owned(), run));
    }

    /// Looks into the launches of all that were added.
    ///
    /// # Errors
    /// If a fault names no place, or the work is stopped.
    pub(super) fn look(&mut self, jobs: usize, stop: &AtomicBool) -> Result<(), StudyError> {
        let counts = Mutex::new(Counts::default());
        for_each(
            &self.landed,
            jobs,
            stop,
            || self.capsule.line_tracker(),
            |tracker, _, (region, run)| {
                let found = self.one(tracker, region, &self.faults[*run])?;
                counts.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
                Ok(())
            },
        )?;
        self.counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(())
    }

    /// Looks into the launch of a fault.
    fn one(&self, tracker: &mut LineTracker<'_>, region: &str, fault: &Fault) -> Result<Counts, StudyError> {
        let mut counts = Counts::default();
        let Some(line) = self.place.instructions(fault.launch) else {
            counts.elsewhere = 1;
            return Ok(counts);
        };
        match tracker.snapshots(fault, line, MOST) {
            Ok(snapshots) => {
                counts.add(region, fault, self.arrays, &snapshots);
                let golden = self.capsule.golden_run();
                let kernel = golden.launches().get(fault.launch as usize).map(|launch| launch.program.name.as_str());
                let races = golden.races().iter().any(|race| Some(race.kernel.as_str()) == kernel);
                counts.races.extend(kernel.filter(|_| races).map(|name| base_name(name).to_owned()));
            }
            Err(InjectError::Together { .. }) => counts.together = 1,
            Err(error) => return Err(TargetError::from_error(&error).into()),
        }
        Ok(counts)
    }

    /// The variables, by regions in this order.
    fn rows<'r>(&'r self, regions: &'r [String]) -> impl Iterator<Item = (&'r str, &'r Array, &'r VariableAtLine)> {
        regions.iter().flat_map(move |region| {
            self.arrays.iter().enumerate().filter_map(move |(place, array)| {
                Some((region.as_str(), array, self.counts.variables.get(&(region.clone(), place))?))
            })
        })
    }

    /// The variables that are looked at after some launches only, with how many faults are in others.
    fn unseen(&self) -> Vec<(&str, u64)> {
        let unseen = |(place, array): (usize, &'c Array)| {
            let compared = self.counts.variables.iter().filter(|((_, of), _)| *of == place).map(|(_, it)| it.faults);
            Some((array.name.as_str(), self.counts.seen - compared.sum::<u64>())).filter(|(_, count)| *count > 0)
        };
        self.arrays.iter().enumerate().filter_map(unseen).collect()
    }

    fn not_landed(&self) -> u64 {
        (self.faults.len() - self.landed.len()) as u64
    }

    /// The variables as a table, of these regions.
    pub(super) fn table(&self, regions: &[String]) -> Table {
        let columns = [
            "region",
            "variable",
            "faults",
            "thread comes there",
            "differs at first time",
            "at last time",
            "at any time",
            "elements at last time, median",
            "most",
            "largest error",
        ];
        let title = format!("Variables when the thread with the fault comes to {}", self.place.name);
        let mut table = Table::new(title, &columns);
        for (region, array, it) in self.rows(regions) {
            let elements = quartiles(it.elements.clone());
            let mut row = vec![Cell::text(region), Cell::text(&array.name)];
            row.extend([it.faults, it.reached, it.first, it.last, it.any].map(Cell::Count));
            row.extend([2, 4].map(|at| number(elements.map(|five| five[at]))));
            row.push(number(it.max_abs));
            table.rows.push(row);
        }
        table.notes = self.notes();
        table
    }

    /// Sentences on what is counted.
    fn notes(&self) -> Vec<String> {
        let (place, counts) = (&self.place.name, &self.counts);
        let mut notes = Vec::new();
        let mut note = |count: u64, text: &str| {
            let faults = if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") };
            notes.extend((count > 0).then(|| format!("{faults}: {text}.")));
        };
        note(counts.elsewhere, "in kernels without this line, and not looked at");
        note(
            counts.together,
            "in launches whose blocks take turns, so that what memory holds at a moment depends on all of them; not looked at",
        );
        note(self.not_landed(), "not landed, and not looked at");
        note(
            counts.parted,
            "the thread goes another way than without the fault; times with the same number are compared",
        );
        note(
            counts.uneven,
            &format!(
                "the thread comes to {place} more often, or less, than without the fault; times that both have are compared"
            ),
        );
        note(counts.cut, &format!("the thread comes there more often; the first {MOST} times are looked at"));
        note(
            counts.unfinished,
            "the block waits for another one, or goes on for longer than is waited for; times after that are not seen",
        );
        for (name, count) in self.unseen() {
            note(count, &format!("in launches after which {name} is not looked at; it is not compared there"));
        }
        notes.extend((counts.seen > 0).then(|| {
            format!(
                "The first time is the first after the fault; the last is the last that the runs with and without the fault both have. Elements \
                 are of faults in which some differ then, the largest error is of all times, – where it is no finite number. {WHICH_MEMORY}"
            )
        }));
        if !counts.races.is_empty() {
            let kernels: Vec<&str> = counts.races.iter().map(String::as_str).collect();
            notes.push(format!(
                "Threads of {} race: in another order memory may hold something else at these times.",
                kernels.join(", ")
            ));
        }
        notes
    }

    /// The variables as a document, of these regions.
    pub(super) fn document(&self, regions: &[String]) -> Value {
        let row = |(region, array, it): (&str, &Array, &VariableAtLine)| {
            json!({
                "region": region,
                "variable": array.name,
                "faults": it.faults,
                "reached": it.reached,
                "differs_at_first": it.first,
                "differs_at_last": it.last,
                "differs_at_any": it.any,
                "elements_at_last": quartiles(it.elements.clone()),
                "max_abs": it.max_abs.map(finite),
            })
        };
        let counts = &self.counts;
        let unseen = |(name, count): (&str, u64)| json!({ "variable": name, "faults": count });
        json!({
            "line": self.place.name,
            "most_times": MOST,
            "faults": counts.seen,
            "elsewhere": counts.elsewhere,
            "together": counts.together,
            "not_landed": self.not_landed(),
            "parted": counts.parted,
            "uneven": counts.uneven,
            "cut": counts.cut,
            "unfinished": counts.unfinished,
            "not_compared": self.unseen().into_iter().map(unseen).collect::<Vec<_>>(),
            "races": counts.races,
            "regions": self.rows(regions).map(row).collect::<Vec<_>>(),
        })
    }
}
