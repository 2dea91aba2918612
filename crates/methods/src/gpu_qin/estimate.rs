//! Equations 1 to 5 of the paper: rates from trials in groups.
//!
//! With p_i the rate among the n_i activated trials of group i, N_i = threads × instructions of a thread, over the k groups
//! that are profiled and N = Σ N_i:
//!
//! 1. p = Σ (N_i/N) p_i
//! 2. Var(p) = Σ (N_i/N)² · p_i(1-p_i)/n_i · (N-n_i)/(N-1)
//! 3. the bounds p ± 1.96 √Var(p)
//!
//! and with M the size of all groups, those that are left out too, of which nothing is known:
//!
//! 4. upper' = upper · N/M + (1 - N/M): every fault in them fails
//! 5. lower' = lower · N/M: none does
//!
//! Equation 4 is printed as `upper · ΣN_i + 1 / N`; what is meant follows from the sentence before it and from equation 5.
//!
//! Equation 3 is Wald's interval: it has no width where nothing, or everything, was seen. The score interval of a stratified sample
//! ([`stats::strata`]) stands beside it, with the same estimate and the same strata. The unbiased choice needs none of this: its rate is a proportion, bounded by Wilson's interval at 95 %.

use serde::Serialize;
use stats::{Confidence, Interval, IntervalKind, Proportion, Stratified, StratumSample};
use std::collections::BTreeMap;

use super::crashes::causes;
use super::grouping::{Grouping, KernelGroups};
use super::location::Discard;
use super::settings::{Choice, Settings};
use super::trials::{ENDS, Endless, Trial, TrialEnd, ends_by};
use crate::kit::MethodSettings;

/// The paper's normal quantile (Eq. 3).
const Z: f64 = 1.96;

/// A rate with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bounded {
    /// The estimate.
    pub rate: f64,
    /// The lower bound of equation 3.
    pub low: f64,
    /// The upper bound of equation 3.
    pub high: f64,
    /// The lower bound with the groups that were left out: equation 5.
    pub lower: f64,
    /// The upper bound with the groups that were left out: equation 4.
    pub upper: f64,
    /// The standard error: the root of equation 2.
    pub error: f64,
    /// The lower bound of the score interval, which has a width where equation 3 has none.
    pub score_low: f64,
    /// The upper bound of the score interval.
    pub score_high: f64,
}

/// What was tried in a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// N_i: the size of the group.
    pub size: f64,
    /// n_i: activated trials.
    pub trials: u64,
    /// The share of them that came to what is asked, from 0 to 1.
    pub rate: f64,
}

/// Equations 1 to 5 over groups of which all have trials, of a population of size `all`; `None` if there is none.
#[must_use]
pub fn strata(samples: &[Sample], all: f64) -> Option<Bounded> {
    let tried = || samples.iter().filter(|sample| sample.trials > 0);
    let known: f64 = tried().map(|sample| sample.size).sum();
    if known <= 0.0 {
        return None;
    }
    let (mut rate, mut variance) = (0.0, 0.0);
    for sample in tried() {
        let (weight, n) = (sample.size / known, sample.trials as f64);
        let p = sample.rate;
        rate += weight * p;
        variance += weight * weight * p * (1.0 - p) / n * ((known - n) / (known - 1.0)).max(0.0);
    }
    let error = variance.sqrt();
    let (low, high) = ((rate - Z * error).max(0.0), (rate + Z * error).min(1.0));
    let share = (known / all).min(1.0);
    let stratum = |sample: &Sample| {
        let hits = (sample.rate * sample.trials as f64).round() as u64;
        let sample_of = Proportion::from_counts(hits, sample.trials.saturating_sub(hits));
        StratumSample { weight: sample.size, sample: sample_of }
    };
    let score = Stratified::new(&tried().map(stratum).collect::<Vec<_>>());
    let score = score.interval(IntervalKind::Wilson, Confidence::PERCENT_95);
    Some(Bounded {
        rate,
        low,
        high,
        lower: low * share,
        upper: high * share + (1.0 - share),
        error,
        score_low: score.low,
        score_high: score.high,
    })
}

/// Rates of the paper's outcomes among activated trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// The output passes.
    pub benign: Bounded,
    /// It does not.
    pub sdc: Bounded,
    /// An exception.
    pub crash: Bounded,
    /// No end.
    pub hang: Bounded,
}

/// What was tried in a group, and its own rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupEstimate {
    /// Its number among the groups of the kernel, the most popular first.
    pub group: usize,
    /// Instructions of its threads.
    pub instructions: u32,
    /// Its share of the kernel's threads.
    pub popularity: f64,
    /// Activated trials.
    pub activated: u64,
    /// How they ended: benign, SDC, crash, hang, undecided.
    pub ends: [u64; ENDS],
}

/// What a campaign says of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelEstimate {
    /// The kernel.
    pub kernel: String,
    /// Trials that hit something.
    pub injected: u64,
    /// Those of them that were read within the window.
    pub activated: u64,
    /// Those that were read, but after the window.
    pub late: u64,
    /// Of the activated ones that did not end: in a loop without an end in reach, at a barrier, out of fuel.
    pub hangs: [u64; 3],
    /// Runs that were given up, by why.
    pub discarded: BTreeMap<String, u64>,
    /// The rates; absent while nothing is activated.
    pub rates: Option<Rates>,
    /// The groups that trials are of.
    pub groups: Vec<GroupEstimate>,
    /// Crashes by exception.
    pub crashes: BTreeMap<String, u64>,
}

impl KernelEstimate {
    /// How the activated trials ended: benign, SDC, crash, hang, undecided.
    #[must_use]
    pub fn ends(&self) -> [u64; ENDS] {
        let mut ends = [0; ENDS];
        for group in &self.groups {
            ends.iter_mut().zip(group.ends).for_each(|(sum, count)| *sum += count);
        }
        ends
    }

    /// The share of what was injected that was activated.
    #[must_use]
    pub fn activation(&self) -> Option<f64> {
        (self.injected > 0).then(|| self.activated as f64 / self.injected as f64)
    }
}

/// What a campaign says, kernel by kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimated {
    /// `beamline.gpu-qin/1`
    pub format: String,
    /// The thresholds.
    pub settings: String,
    /// The kernels.
    pub kernels: Vec<KernelEstimate>,
}

/// The estimates of all kernels from their trials.
#[must_use]
pub fn estimates(grouping: &Grouping, settings: Settings, trials: &[Trial]) -> Estimated {
    let kernel = |(number, kernel): (usize, &KernelGroups)| {
        let own: Vec<Trial> = trials.iter().filter(|trial| trial.kernel == number).copied().collect();
        estimate(kernel, settings, &own)
    };
    Estimated {
        format: "beamline.gpu-qin/1".to_owned(),
        settings: settings.choice().to_string(),
        kernels: grouping.kernels.iter().enumerate().map(kernel).collect(),
    }
}

/// The estimate of one kernel from its own trials.
fn estimate(kernel: &KernelGroups, settings: Settings, trials: &[Trial]) -> KernelEstimate {
    let activated = || trials.iter().filter(|trial| trial.is_activated(settings.window));
    let by_group = ends_by(activated(), |trial| trial.group);
    let mut groups: Vec<GroupEstimate> = Vec::new();
    for (number, group) in kernel.groups.iter().enumerate() {
        let ends = by_group.get(&number).copied().unwrap_or_default();
        let activated = ends.iter().sum();
        if activated > 0 || group.profiled {
            let (instructions, popularity) = (group.instructions, group.popularity);
            groups.push(GroupEstimate { group: number, instructions, popularity, activated, ends });
        }
    }
    let mut discarded: BTreeMap<String, u64> = Discard::ALL.iter().map(|why| (why.to_string(), 0)).collect();
    for why in trials.iter().filter_map(|trial| trial.hit.err()) {
        *discarded.entry(why.map_or_else(|| "did not land".to_owned(), |why| why.to_string())).or_default() += 1;
    }
    KernelEstimate {
        kernel: kernel.kernel.clone(),
        injected: trials.iter().filter(|trial| trial.hit.is_ok()).count() as u64,
        activated: activated().count() as u64,
        late: trials.iter().filter(|trial| trial.is_activated(None)).count() as u64 - activated().count() as u64,
        hangs: [Endless::Loop, Endless::Barrier, Endless::OutOfFuel]
            .map(|why| activated().filter(|trial| trial.end == TrialEnd::Hang(why)).count() as u64),
        discarded,
        rates: rates(kernel, settings.choice, &groups),
        groups,
        crashes: causes(trials, settings.window).into_iter().map(|cause| (cause.trap, cause.count)).collect(),
    }
}

fn rates(kernel: &KernelGroups, choice: Choice, groups: &[GroupEstimate]) -> Option<Rates> {
    let all: f64 = kernel.groups.iter().map(super::ThreadGroup::size).sum();
    let share = |of: &dyn Fn(&GroupEstimate) -> u64| match choice {
        Choice::Published => {
            let sample = |group: &GroupEstimate| {
                let size = kernel.groups[group.group].size();
                let rate = of(group) as f64 / group.activated.max(1) as f64;
                Sample { size, trials: group.activated, rate }
            };
            strata(&groups.iter().map(sample).collect::<Vec<_>>(), all)
        }
        Choice::Unbiased => {
            let (hits, trials) =
                groups.iter().fold((0, 0), |(hits, trials), group| (hits + of(group), trials + group.activated));
            plain(hits, trials)
        }
    };
    // Of what is undecided none may count, or all.
    let undecided = TrialEnd::Undecided.index();
    let rate = |end: usize| {
        Some(between(share(&|group| group.ends[end])?, share(&|group| group.ends[end] + group.ends[undecided])?))
    };
    Some(Rates { benign: rate(0)?, sdc: rate(1)?, crash: rate(2)?, hang: rate(3)? })
}

/// A rate that has the upper bounds of another: of what it is if all that is undecided counts.
fn between(least: Bounded, most: Bounded) -> Bounded {
    Bounded { high: most.high, upper: most.upper, score_high: most.score_high, ..least }
}

/// The rate of an end among trials that ended so, with Wilson's interval; none or all that is undecided counts.
#[must_use]
pub fn of_ends(ends: [u64; ENDS], end: usize) -> Option<Bounded> {
    let (trials, undecided) = (ends.iter().sum(), ends[TrialEnd::Undecided.index()]);
    Some(between(plain(ends[end], trials)?, plain(ends[end] + undecided, trials)?))
}

/// A proportion with Wilson's interval.
fn plain(hits: u64, trials: u64) -> Option<Bounded> {
    let sample = Proportion::from_counts(hits, trials - hits);
    let Interval { low, high } = sample.interval(IntervalKind::Wilson, Confidence::PERCENT_95);
    sample.rate().map(|rate| {
        let error = (rate * (1.0 - rate) / trials as f64).sqrt();
        Bounded { rate, low, high, lower: low, upper: high, error, score_low: low, score_high: high }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-4, "{a} is not {b}");
    }

    #[test]
    fn the_score_interval_has_a_width_where_equation_three_has_none() {
        let bounded = strata(&[Sample { size: 1e6, trials: 2000, rate: 0.0 }], 1e6).unwrap();
        assert_eq!((bounded.low, bounded.high, bounded.score_low), (0.0, 0.0, 0.0));
        // Wilson: z²/(n + z²).
        close(bounded.score_high, 3.8415 / 2003.8415);
        let half = strata(&[Sample { size: 1e6, trials: 100, rate: 0.5 }], 1e6).unwrap();
        let wilson = plain(50, 100).unwrap();
        close(half.score_low, wilson.low);
        close(half.score_high, wilson.high);
    }

    #[test]
    fn without_small_groups_the_bounds_are_those_of_equation_three() {
        let bounded = strata(&[Sample { size: 1e6, trials: 100, rate: 0.5 }], 1e6).unwrap();
        close(bounded.low, 0.5 - 1.96 * 0.05);
        assert_eq!((bounded.low, bounded.high), (bounded.lower, bounded.upper));
    }

    #[test]
    fn groups_without_trials_are_as_groups_left_out() {
        let tried = Sample { size: 3.0e5, trials: 1000, rate: 0.0 };
        let bounded = strata(&[tried, Sample { size: 1.0e5, trials: 0, rate: 0.0 }], 4.0e5).unwrap();
        assert_eq!((bounded.rate, bounded.lower), (0.0, 0.0));
        close(bounded.upper, 0.25);
        assert_eq!(strata(&[], 1.0), None);
    }
}
