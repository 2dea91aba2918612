//! The time of runs as Equation 3.1 counts it (thesis, Section 3.4.6): some of each outcome category, one by one.

use campaign::{Site, Worker};
use inject::{CapsuleTarget, Strategy};
use std::time::Duration;

use super::pilots::PilotEnd;
use crate::kit::now;

/// Runs of each outcome category whose time is measured, at most.
const TIMED: usize = 1000;
/// The time that the runs of a category may take to be measured.
const PATIENCE: Duration = Duration::from_secs(5);
/// The share of the fastest and of the slowest runs that is left out of a mean.
const OUTLIERS: f64 = 0.025;

/// The parts of Equation 3.1, in seconds of one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// To find the equivalence classes.
    pub(super) classes: f64,
    /// The mean of a run by how it ends, in the order of [`PilotEnd`].
    pub(super) run: [f64; 3],
}

impl Times {
    /// Equation 3.1 for runs that end in these ways.
    pub(super) fn total(self, runs: [u64; 3]) -> f64 {
        self.classes + runs.iter().zip(self.run).map(|(&count, seconds)| count as f64 * seconds).sum::<f64>()
    }
}

/// Evenly spaced sites of each outcome category, among all that it is given.
#[derive(Default)]
pub(super) struct TimedSites([Spaced; 3]);

/// Every `step`th of those that were seen.
#[derive(Default)]
struct Spaced {
    kept: Vec<Site>,
    seen: u64,
    step: u32,
}

impl Spaced {
    fn add(&mut self, site: &Site) {
        if self.seen.is_multiple_of(1 << self.step) {
            self.kept.push(site.clone());
        }
        self.seen += 1;
        if self.kept.len() == 2 * TIMED {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.step += 1;
        }
    }
}

impl TimedSites {
    /// Takes in the site of a run.
    pub(super) fn add(&mut self, end: PilotEnd, site: &Site) {
        self.0[end as usize].add(site);
    }

    /// The mean time of a run of each category: those that are kept are run once more, each by itself.
    pub(super) fn seconds(&self, capsule: &CapsuleTarget) -> [f64; 3] {
        let mut runner = capsule.runner(Strategy::Auto);
        [0, 1, 2].map(|category| {
            let (begin, kept) = (now(), &self.0[category].kept);
            let mut seconds = Vec::new();
            for site in kept.iter().step_by(kept.len().div_ceil(TIMED).max(1)) {
                let before = now();
                let made = Worker::run(&mut runner, site).is_ok();
                seconds.extend(made.then(|| before.elapsed().as_secs_f64()));
                if begin.elapsed() > PATIENCE {
                    break;
                }
            }
            trimmed_mean(seconds)
        })
    }
}

/// The mean without the fastest and the slowest; 0 of none.
fn trimmed_mean(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    let out = (seconds.len() as f64 * OUTLIERS) as usize;
    let kept = &seconds[out..seconds.len() - out];
    kept.iter().sum::<f64>() / kept.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_analysis_is_that_of_its_classes_and_runs() {
        let times = Times { classes: 2.0, run: [1.0, 0.5, 0.25] };
        assert!((times.total([3, 2, 12]) - 9.0).abs() < 1e-9);
        // One of forty is left out at both ends.
        let seconds = (0..40).map(|run| if run == 7 { 1000.0 } else { 3.0 }).collect();
        assert!((trimmed_mean(seconds) - 3.0).abs() < 1e-9);
        assert!(trimmed_mean(Vec::new()).abs() < 1e-9);
    }

    #[test]
    fn sites_that_are_timed_are_spread_over_all() {
        let spot = campaign::Spot { kernel: "k".to_owned(), ..campaign::Spot::default() };
        let mut spaced = Spaced::default();
        for number in 0..10_000 {
            spaced.add(&Site::new(number.to_string(), spot.clone(), Default::default()));
        }
        assert!((TIMED..2 * TIMED).contains(&spaced.kept.len()));
        let numbers: Vec<u64> = spaced.kept.iter().map(|site| site.fault().unwrap().parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|two| two[1] - two[0] == 8), "{numbers:?}");
    }
}
