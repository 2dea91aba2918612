//! What was measured, by the names of programs and regions, and the numbers that statements are about.

use super::super::followed::FollowedFault;
use super::super::survey::Measured;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::percent;
use methods::regional::{RegionTally, quartiles};

/// What was measured, by names.
pub(in crate::regional) struct Found<'m>(pub(in crate::regional) &'m [Measured]);

impl<'m> Found<'m> {
    pub(in crate::regional) fn program(&self, name: &str) -> &'m Measured {
        self.0.iter().find(|it| it.name == name).unwrap_or_else(|| unreachable!("the survey is of all programs"))
    }

    pub(in crate::regional) fn region(&self, program: &str, region: &str) -> &'m RegionTally {
        self.program(program).region(region)
    }

    /// The faults in a region that corrupted a variable, and what they did to it and to another one in the end.
    pub(in crate::regional) fn followed(&self, program: &str, region: &str) -> impl Iterator<Item = &'m FollowedFault> {
        let region = region.to_owned();
        self.program(program).followed().iter().filter(move |it| it.region == region)
    }

    /// Errors of a variable when they were first seen, and corrupted elements of another in the end, by fault.
    pub(in crate::regional) fn pairs(&self, program: &str, region: &str, cause: &str, effect: &str) -> Vec<(f64, f64)> {
        let (cause, effect) = (self.variable(program, cause), self.variable(program, effect));
        let pair = |it: &FollowedFault| {
            let (first, last) = (&it.run.ends.get(&cause)?.first, it.run.ends.get(&effect)?.last.as_ref()?);
            Some((first.max_abs, last.elements as f64))
        };
        self.followed(program, region).filter(|it| it.run.completed).filter_map(pair).collect()
    }

    /// The number of a variable.
    pub(in crate::regional) fn variable(&self, program: &str, name: &str) -> usize {
        let names = &self.program(program).variables;
        names.iter().position(|it| it == name).unwrap_or(usize::MAX)
    }
}

/// A verdict that hangs on a threshold of ours: undecided where it changes among these.
pub(in crate::regional) fn swept(rule: &str, thresholds: &[f64], holds: impl Fn(f64) -> bool) -> Judged {
    let verdict = Verdict::same(thresholds.iter().map(|&it| Verdict::plain(holds(it))));
    let tried: Vec<String> = thresholds.iter().map(f64::to_string).collect();
    Judged::by(format!("{rule} {}", tried.join(", ")), verdict)
}

pub(in crate::regional) fn said(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// The share of SDCs whose number of corrupted elements is such.
pub(in crate::regional) fn share(it: &RegionTally, such: impl Fn(u64) -> bool) -> f64 {
    it.corrupted.iter().filter(|&&elements| such(elements)).count() as f64 / it.corrupted.len().max(1) as f64
}

/// The median number of corrupted elements.
pub(in crate::regional) fn median(it: &RegionTally) -> f64 {
    it.corrupted_quartiles().map_or(f64::NAN, |five| five[2])
}

/// The median of the errors over the corrupted elements.
pub(in crate::regional) fn median_error(it: &RegionTally) -> f64 {
    quartiles(it.errors_of_corrupted().collect()).map_or(f64::NAN, |five| five[2])
}

/// The standard deviation of the numbers of corrupted elements.
pub(in crate::regional) fn spread(it: &RegionTally) -> f64 {
    let count = it.corrupted.len().max(1) as f64;
    let mean = it.corrupted.iter().map(|&it| it as f64).sum::<f64>() / count;
    (it.corrupted.iter().map(|&it| (it as f64 - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// `K1 3, K2 5`.
pub(in crate::regional) fn each(names: &[&str], of: impl Fn(&str) -> String) -> String {
    names.iter().map(|name| format!("{name} {}", of(name))).collect::<Vec<_>>().join(", ")
}

/// `K1 97.0 %`.
pub(in crate::regional) fn shares(names: &[&str], of: impl Fn(&str) -> f64) -> String {
    each(names, |name| percent(of(name)))
}
