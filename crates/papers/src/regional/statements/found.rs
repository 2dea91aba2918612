//! What was measured, by the names of programs and regions, and the numbers that statements are about.

use super::super::survey::{FollowedFault, Measured};
use crate::statements::{Judged, Statement};
use crate::words::percent;
use methods::regional::{RegionTally, quartiles};

/// What was measured, by names.
pub(super) struct Found<'m>(pub(super) &'m [Measured]);

impl<'m> Found<'m> {
    pub(super) fn program(&self, name: &str) -> &'m Measured {
        self.0.iter().find(|it| it.name == name).unwrap_or_else(|| unreachable!("the survey is of all programs"))
    }

    pub(super) fn region(&self, program: &str, region: &str) -> &'m RegionTally {
        self.program(program).region(region)
    }

    /// The faults in a region that corrupted a variable, and what they did to it and to another one in the end.
    pub(super) fn followed(&self, program: &str, region: &str) -> impl Iterator<Item = &'m FollowedFault> {
        let region = region.to_owned();
        self.program(program).followed.iter().filter(move |it| it.region == region)
    }

    /// The number of a variable.
    pub(super) fn variable(&self, program: &str, name: &str) -> usize {
        let names = &self.program(program).variables;
        names.iter().position(|it| it == name).unwrap_or(usize::MAX)
    }
}

pub(super) fn said(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// The share of SDCs whose number of corrupted elements is such.
pub(super) fn share(it: &RegionTally, such: impl Fn(u64) -> bool) -> f64 {
    it.corrupted.iter().filter(|&&elements| such(elements)).count() as f64 / it.corrupted.len().max(1) as f64
}

/// The median number of corrupted elements.
pub(super) fn median(it: &RegionTally) -> f64 {
    it.corrupted_quartiles().map_or(f64::NAN, |five| five[2])
}

/// The median of the errors over the corrupted elements.
pub(super) fn median_error(it: &RegionTally) -> f64 {
    quartiles(it.errors_of_corrupted().collect()).map_or(f64::NAN, |five| five[2])
}

/// The standard deviation of the numbers of corrupted elements.
pub(super) fn spread(it: &RegionTally) -> f64 {
    let count = it.corrupted.len().max(1) as f64;
    let mean = it.corrupted.iter().map(|&it| it as f64).sum::<f64>() / count;
    (it.corrupted.iter().map(|&it| (it as f64 - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// `K1 3, K2 5`.
pub(super) fn each(names: &[&str], of: impl Fn(&str) -> String) -> String {
    names.iter().map(|name| format!("{name} {}", of(name))).collect::<Vec<_>>().join(", ")
}

/// `K1 97.0 %`.
pub(super) fn shares(names: &[&str], of: impl Fn(&str) -> f64) -> String {
    each(names, |name| percent(of(name)))
}
