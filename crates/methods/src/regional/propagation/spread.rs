//! What many runs did to variables, by region.

use std::collections::BTreeMap;

use super::follow::TrackedRun;
use outcome::Class;

/// What runs of a region did to a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableSpread {
    /// Runs after some launch of which it differs.
    pub corrupted: u64,
    /// Of those that came to their end: runs that left it corrupted.
    pub left: u64,
    /// The corrupted elements when the corruption was first seen, one number for each run that corrupted the variable.
    pub first: Vec<f64>,
    /// The launches between the fault and that moment, one number for each run that corrupted the variable.
    pub delay: Vec<f64>,
    /// The corrupted elements at the end, one number for each run that left the variable corrupted.
    pub elements: Vec<f64>,
    /// The rows with corrupted elements at the end, one number for each such run.
    pub rows: Vec<f64>,
    /// The columns with corrupted elements at the end, one number for each such run.
    pub columns: Vec<f64>,
    /// The mean absolute error of those elements, one number for each such run, if their type is known.
    pub errors: Vec<f64>,
}

/// What runs did, by region and variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The runs that landed, by the name of the region.
    pub runs: BTreeMap<String, u64>,
    /// The runs among these that are undecided, by the name of the region: the host saw a difference, and they are followed
    /// as if it had gone on as recorded.
    pub undecided: BTreeMap<String, u64>,
    /// The effect of the runs on each variable, by its place.
    pub variables: BTreeMap<(String, usize), VariableSpread>,
}

impl Spread {
    /// Adds a run of a region.
    pub fn add(&mut self, region: &str, it: &TrackedRun, variables: usize) {
        if !it.class().has_landed() {
            return;
        }
        *self.runs.entry(region.to_owned()).or_default() += 1;
        if it.class() == Class::Undecided {
            *self.undecided.entry(region.to_owned()).or_default() += 1;
        }
        for variable in 0..variables {
            let Some(ends) = it.ends.get(&variable) else { continue };
            let of = self.variables.entry((region.to_owned(), variable)).or_default();
            of.corrupted += 1;
            of.first.push(ends.first.elements as f64);
            of.delay.push(f64::from(ends.launch - it.launch));
            let Some(end) = ends.last.as_ref().filter(|_| it.completed) else { continue };
            of.left += 1;
            of.elements.push(end.elements as f64);
            of.rows.push(end.extent.rows as f64);
            of.columns.push(end.extent.columns as f64);
            // Of elements without a type there is no error.
            of.errors.extend(Some(end.sum_abs / end.elements as f64).filter(|error| !error.is_nan()));
        }
    }
}
