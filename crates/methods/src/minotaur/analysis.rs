//! The analysis of an input by [Approxilyzer](crate::approxilyzer), pilot by pilot, and the time that it takes.

use campaign::{Finding, LabelColumn, Planner, Results, RunIndex, SelectionWords, Site, Subject, TargetError, Worker};
use fault::{Fault, Target};
use inject::site::fault_of;
use inject::{CapsuleTarget, Strategy};
use outcome::{Outcome, Sdc};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::priority::{Pc, Pilot, PilotEnd, Pilots};
use crate::approxilyzer::{Approxilyzer, Settings, SiteCounts};
use crate::kit::{Campaigns, MethodSettings, OpenedCapsule, StudyError};

/// Runs of each outcome category whose time is measured, at most (thesis, Section 3.4.6).
const TIMED: usize = 1000;
/// The time that the runs of a category may take to be measured.
const PATIENCE: Duration = Duration::from_secs(5);
/// The share of the fastest and of the slowest runs that is left out of a mean.
const OUTLIERS: f64 = 0.025;

/// The error sites of an input in their classes: all that is to be known before the first run.
pub(super) struct Planned {
    capsule: OpenedCapsule,
    method: Approxilyzer,
    selection: SelectionWords,
    seconds: f64,
    limit: u64,
}

/// Some of the pilots of a method, evenly spaced: a class has as many of them as its bits, and the largest classes come first.
struct SpacedPilots<'a> {
    method: &'a Approxilyzer,
    limit: u64,
}

impl Planner for SpacedPilots<'_> {
    fn runs(&self) -> Option<u64> {
        Some(self.method.runs().min(self.limit))
    }

    fn labels(&self) -> &[LabelColumn] {
        self.method.labels()
    }

    fn plan(&self, runs: &[RunIndex], words: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let (all, some) = (self.method.runs(), self.method.runs().min(self.limit).max(1));
        let spaced: Vec<RunIndex> = runs.iter().map(|run| RunIndex(spaced(run.0, some, all))).collect();
        self.method.plan(&spaced, words, seed)
    }
}

/// The place among `all` of one of `some` that are evenly spaced.
fn spaced(one: u64, some: u64, all: u64) -> u64 {
    (u128::from(one) * u128::from(all) / u128::from(some)) as u64
}

/// The analysis of one input.
#[derive(Default)]
pub(super) struct Analysis {
    /// The account of its error sites.
    pub(super) sites: SiteCounts,
    /// The pilots that were run; fewer than there are where a limit says so.
    pub(super) runs: u64,
    /// By instruction, its pilots; an instruction that has any is explored.
    pub(super) pilots: Pilots,
    /// The time of the runs as a clock says, in seconds.
    pub(super) seconds: f64,
    /// The parts of Equation 3.1.
    pub(super) times: Times,
}

/// The parts of Equation 3.1, in seconds of one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// To find the equivalence classes.
    pub(super) classes: f64,
    /// The mean of a run by how it ends, in the order of [`PilotEnd`].
    pub(super) run: [f64; 4],
}

impl Times {
    /// Equation 3.1 for runs that end so.
    pub(super) fn total(self, runs: [u64; 4]) -> f64 {
        self.classes + runs.iter().zip(self.run).map(|(&count, seconds)| count as f64 * seconds).sum::<f64>()
    }
}

impl Planned {
    /// Finds the classes of an input.
    ///
    /// # Errors
    /// If there are none, or they take more pilots than can be kept.
    pub(super) fn of(
        capsule: &OpenedCapsule,
        settings: &Settings,
        limit: u64,
        campaigns: &Campaigns<'_>,
    ) -> Result<Self, StudyError> {
        let begin = now();
        let selection = campaigns.selection(settings.choice());
        let method = Approxilyzer::new(capsule, &selection).map_err(|error| {
            StudyError::Refused(format!(
                "analyse {}: {error}. With `beamline minotaur`, --sites lowers the coverage, and a description of your own \
                 (--space F.toml) has a smaller reference",
                capsule.name()
            ))
        })?;
        let (capsule, seconds) = (capsule.clone(), begin.elapsed().as_secs_f64());
        Ok(Self { capsule, method, selection, seconds, limit })
    }

    /// Runs the pilot of every class, or as many of them as the limit says.
    ///
    /// # Errors
    /// If the runs cannot be made.
    pub(super) fn run(self, campaigns: &mut Campaigns<'_>) -> Result<Analysis, StudyError> {
        let (runs, seed) = (self.method.runs().min(self.limit), campaigns.seed);
        let pilots = SpacedPilots { method: &self.method, limit: self.limit };
        let results = campaigns.in_memory(&self.capsule, Some(&pilots), self.selection, runs, seed)?;
        let (sites, seconds) = (self.method.counts(), results.summary()?.speed.seconds);
        let mut analysis = Analysis { sites, runs, seconds, ..Analysis::default() };
        let mut ends = [0; 4];
        results.visit(&mut |row| {
            if let Finding::Seen { outcome, .. } = &row.finding
                && let Ok(fault) = fault_of(&row.site)
            {
                let pilot = pilot(&self.capsule, row.run.0, &row.site, &fault, *outcome);
                ends[pilot.end as usize] += 1;
                let pc = (row.site.spot.kernel.clone(), row.site.spot.pc);
                analysis.pilots.entry(pc).or_default().push(pilot);
            }
        })?;
        analysis.times = Times { classes: self.seconds, run: run_seconds(&self.capsule, &results, ends)? };
        Ok(analysis)
    }
}

impl Analysis {
    /// Instructions with a pilot that ends in a corruption that no criterion accepts as good: the SDC-PCs (thesis, Section 3.6.1).
    pub(super) fn corrupting(&self) -> BTreeSet<Pc> {
        let some = self.pilots.iter().filter(|(_, own)| own.iter().any(Pilot::corrupts));
        some.map(|(pc, _)| pc.clone()).collect()
    }
}

fn pilot(capsule: &CapsuleTarget, run: u64, site: &Site, fault: &Fault, outcome: Outcome) -> Pilot {
    let launch = capsule.golden_run().launches().get(fault.launch as usize);
    let facts = launch.and_then(|launch| launch.program.facts(site.spot.pc));
    let is_hit = |operand: &&facts::Operand| match fault.target {
        Target::Destination(position) => operand.role == facts::Role::Destination && operand.position == position,
        Target::Register(number) => operand.role == facts::Role::Source && operand.register.0 == number,
        _ => false,
    };
    let operand = facts.and_then(|facts| facts.operands.iter().find(is_hit));
    Pilot {
        run,
        bit: fault.model.bits().parse().unwrap_or_default(),
        instance: (fault.launch, fault.dynamic),
        size: site.weight,
        is_float: operand.and_then(|operand| operand.ty).is_some_and(facts::Type::is_float),
        is_source: matches!(fault.target, Target::Register(_)),
        end: end(outcome),
    }
}

fn end(outcome: Outcome) -> PilotEnd {
    match outcome {
        Outcome::Masked(_) | Outcome::NotLanded => PilotEnd::Masked,
        Outcome::Due(_) => PilotEnd::Detected,
        Outcome::Sdc(Sdc::Maybe(_) | Sdc::Bad | Sdc::Unjudged) => PilotEnd::Corrupting,
        Outcome::Sdc(Sdc::Good | Sdc::Detectable) | Outcome::Undecided => PilotEnd::Tolerated,
    }
}

/// The mean time of a run of each category, of which there are `ends`: some are run once more, each by itself. The categories
/// of output corruptions are measured as one.
fn run_seconds(capsule: &CapsuleTarget, results: &Results, ends: [u64; 4]) -> Result<[f64; 4], StudyError> {
    let category = |end: PilotEnd| (end as usize).min(2);
    let all = [ends[0], ends[1], ends[2] + ends[3]];
    let mut chosen: [Vec<Site>; 3] = Default::default();
    let mut seen = [0; 3];
    results.visit(&mut |row| {
        let Finding::Seen { outcome, .. } = row.finding else { return };
        let at = category(end(outcome));
        // As far apart from each other as they can be.
        let wanted = seen[at] * TIMED as u64 / all[at].max(1);
        seen[at] += 1;
        if chosen[at].len() as u64 <= wanted && chosen[at].len() < TIMED {
            chosen[at].push(row.site);
        }
    })?;
    let mut runner = capsule.runner(Strategy::Auto);
    let mut means = [0.0; 3];
    for (mean, sites) in means.iter_mut().zip(&chosen) {
        let begin = now();
        let mut seconds = Vec::new();
        for site in sites {
            let before = now();
            let made = Worker::run(&mut runner, site).is_ok();
            seconds.extend(made.then(|| before.elapsed().as_secs_f64()));
            if begin.elapsed() > PATIENCE {
                break;
            }
        }
        *mean = trimmed_mean(seconds);
    }
    Ok([means[0], means[1], means[2], means[2]])
}

#[expect(clippy::disallowed_methods, reason = "times are shown as times, and nothing else depends on them")]
fn now() -> Instant {
    Instant::now()
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
        let times = Times { classes: 2.0, run: [1.0, 0.5, 0.25, 0.25] };
        assert!((times.total([3, 2, 4, 8]) - 9.0).abs() < 1e-9);
        // One of forty is left out at both ends.
        let seconds = (0..40).map(|run| if run == 7 { 1000.0 } else { 3.0 }).collect();
        assert!((trimmed_mean(seconds) - 3.0).abs() < 1e-9);
        assert!(trimmed_mean(Vec::new()).abs() < 1e-9);
    }

    #[test]
    fn a_limit_takes_pilots_from_all_classes() {
        assert_eq!((0..4).map(|one| spaced(one, 4, 10)).collect::<Vec<_>>(), [0, 2, 5, 7]);
        assert_eq!((0..4).map(|one| spaced(one, 4, 4)).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
