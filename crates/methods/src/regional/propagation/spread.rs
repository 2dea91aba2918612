//! What many runs did to variables, by region.

use std::collections::BTreeMap;

use super::follow::Followed;
use outcome::Class;

/// What runs of a region did to a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableSpread {
    /// Runs after some launch of which it differs.
    pub corrupted: u64,
    /// Of those that came to their end: runs that left it corrupted.
    pub left: u64,
    /// Of each run that corrupted it, how many elements when it was first seen, …
    pub first: Vec<f64>,
    /// … how many launches after the one with the fault that was, …
    pub delay: Vec<f64>,
    /// … and of each that left it corrupted: elements at the end, …
    pub elements: Vec<f64>,
    /// … how many rows and columns have some, …
    pub rows: Vec<f64>,
    /// (columns)
    pub columns: Vec<f64>,
    /// … and the mean absolute error of those elements, if their type is known.
    pub errors: Vec<f64>,
}

/// What runs did, by region and variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// By the names of regions: how many runs landed, …
    pub runs: BTreeMap<String, u64>,
    /// … how many of these are undecided: the host saw a difference, and they are followed as if it had gone on as recorded; …
    pub undecided: BTreeMap<String, u64>,
    /// … and what they did to each variable, by its place.
    pub variables: BTreeMap<(String, usize), VariableSpread>,
}

impl Spread {
    /// Adds a run of a region.
    pub fn add(&mut self, region: &str, it: &Followed, variables: usize) {
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
