//! Rates as they may truly be: strikes as far off as their errors allow, for all workloads the same, and chances as far off as
//! theirs. What an order of workloads is asked, it is asked in each of these worlds.

use methods::two_level::{InstructionType, IpaTable, Manifestation};
use stats::{Bounded, Confidence, Draws, spearman};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::survey::Measured;
use crate::statements::{Judged, Verdict};

/// How sure a verdict is, at least.
pub(super) const SURE: f64 = 0.975;
/// Seeds from here on are of worlds; those of workloads are below.
const SEED: u64 = 1_000_000;
/// Simulated beams; fewer where only the rules are tested.
pub(super) const COUNT: u64 = if cfg!(test) { 400 } else { 4000 };

/// How many of some workloads are clear cases, high or low: no number is the paper's, so that a rule is asked with each, from a quarter to
/// a third.
pub(super) fn clear_cases(workloads: usize) -> RangeInclusive<usize> {
    workloads / 4..=workloads.div_ceil(3)
}

/// Numbers as a rule has them: `4, 5 or 6`.
pub(super) fn in_words(counts: &RangeInclusive<usize>) -> String {
    let all: Vec<String> = counts.clone().map(|it| it.to_string()).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

/// The rates of workloads in all worlds.
pub(super) struct MonteCarlo {
    names: Vec<&'static str>,
    /// By world and workload.
    rates: Vec<Vec<f64>>,
}

impl MonteCarlo {
    /// Two-level rates of workloads at the paper's issue rates, which they all have.
    pub(super) fn of_rates(with: &[&Measured], ipa: &IpaTable) -> Self {
        Self::of_strikes(with, ipa, |it, _, silent| silent * issue(it))
    }

    /// How many times the two-level rate IPA only is; no issue rate takes part.
    pub(super) fn of_excess(with: &[&Measured], ipa: &IpaTable) -> Self {
        Self::of_strikes(with, ipa, |_, struck, silent| struck / silent)
    }

    /// What is made of the rates of all flips and of silent ones, for one issued instruction in each cycle.
    fn of_strikes(with: &[&Measured], ipa: &IpaTable, made: impl Fn(&Measured, f64, f64) -> f64) -> Self {
        let world = |number: u64| {
            let mut draws = Draws::new(SEED, number);
            let errors = errors(ipa, &mut draws);
            let mut rate = |it: &&Measured| {
                let (mut struck, mut silent) = (0.0, 0.0);
                for kind in &it.composition.types {
                    for cell in kind.cells.iter().filter(|cell| cell.ends.is_some()) {
                        let rate = kind.fraction.0 * errors[kind.number][cell.manifestation] * cell.rate.0.value;
                        struck += rate;
                        silent += rate * true_chance(cell.sdc().0, &mut draws);
                    }
                }
                made(it, struck, silent)
            };
            with.iter().map(&mut rate).collect()
        };
        Self { names: with.iter().map(|it| it.name).collect(), rates: (0..COUNT).map(world).collect() }
    }

    /// Chances by APA only.
    pub(super) fn of_chances(with: &[&Measured]) -> Self {
        let world = |number: u64| {
            let mut draws = Draws::new(SEED + 2, number);
            with.iter().map(|it| true_chance(it.apa_only(), &mut draws)).collect()
        };
        Self { names: with.iter().map(|it| it.name).collect(), rates: (0..COUNT).map(world).collect() }
    }

    /// Whether at least so many are above a limit.
    pub(super) fn several_above(&self, limit: f64, several: usize) -> Judged {
        let above = |rates: &[f64]| rates.iter().filter(|&&it| it > limit).count() >= several;
        Judged::by(format!("in at least {several}"), verdict(self.share(above)))
    }

    /// Whether the five highest are others than by other numbers of the same workloads.
    pub(super) fn other_five(&self, other: &Self) -> Judged {
        let five = |rates: &[f64]| {
            let mut order: Vec<usize> = (0..rates.len()).collect();
            order.sort_by(|&a, &b| rates[b].total_cmp(&rates[a]));
            order.into_iter().take(5).collect::<BTreeSet<usize>>()
        };
        Judged::by("at least one", verdict(self.share_of_pairs(other, |(own, theirs)| five(own) != five(theirs))))
    }

    /// Whether those that are lowest by other numbers of the same workloads are in the lower half here, for each number of them.
    pub(super) fn lowest_are_low(&self, other: &Self) -> Judged {
        let half = self.names.len() / 2;
        let lowest = |rates: &[f64], most: usize| {
            let mut order: Vec<usize> = (0..rates.len()).collect();
            order.sort_by(|&a, &b| rates[a].total_cmp(&rates[b]));
            order.into_iter().take(most).collect::<BTreeSet<usize>>()
        };
        let low = |count: usize| {
            let is = |(own, theirs): (&Vec<f64>, &Vec<f64>)| lowest(theirs, count).is_subset(&lowest(own, half));
            verdict(self.share_of_pairs(other, is))
        };
        let counts = clear_cases(self.names.len());
        Judged::by(format!("the {} lowest are in the lower half", in_words(&counts)), Verdict::same(counts.map(low)))
    }

    /// Whether orders go with other numbers of the same workloads, or against: whether all of the interval of Spearman's ρ is on that side
    /// of 0.
    pub(super) fn trend(&self, other: &Self, with: bool) -> Judged {
        let side = if with { 1.0 } else { -1.0 };
        let bounds = |(own, theirs): (&Vec<f64>, &Vec<f64>)| {
            let pairs: Vec<(f64, f64)> = own.iter().map(|it| side * it).zip(theirs.iter().copied()).collect();
            spearman(&pairs).map(|it| it.bounds(Confidence::PERCENT_95))
        };
        let holds = self.share_of_pairs(other, |pair| bounds(pair).is_some_and(|it| it.low > 0.0));
        let fails = self.share_of_pairs(other, |pair| bounds(pair).is_some_and(|it| it.high < 0.0));
        let found = match () {
            () if holds >= SURE => Verdict::Holds,
            () if fails >= SURE => Verdict::Fails,
            () => Verdict::Open,
        };
        Judged::by(format!("ρ's interval is {} 0", if with { "above" } else { "below" }), found)
    }

    /// Whether the two highest chances are no further apart than `near`, and the rates of both by a factor within `factors`.
    pub(super) fn two_highest(chances: &Self, rates: &Self, near: f64, factors: [f64; 2]) -> Judged {
        let is = |(chances, rates): (&Vec<f64>, &Vec<f64>)| {
            let mut order: Vec<usize> = (0..chances.len()).collect();
            order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
            let [first, second] = [order[0], order[1]];
            let factor = rates[first].max(rates[second]) / rates[first].min(rates[second]);
            chances[first] - chances[second] <= near && (factors[0]..=factors[1]).contains(&factor)
        };
        let rule =
            format!("chances within {:.1} points, rates by {} to {} times", 100.0 * near, factors[0], factors[1]);
        Judged::by(rule, verdict(chances.share_of_pairs(rates, is)))
    }

    fn share_of_pairs(&self, other: &Self, is: impl Fn((&Vec<f64>, &Vec<f64>)) -> bool) -> f64 {
        self.rates.iter().zip(&other.rates).filter(|&pair| is(pair)).count() as f64 / self.rates.len() as f64
    }

    /// Issue rates, which are the same in all worlds.
    pub(super) fn of_issue(with: &[&Measured]) -> Self {
        let rates: Vec<f64> = with.iter().map(|it| issue(it)).collect();
        Self { names: with.iter().map(|it| it.name).collect(), rates: vec![rates; COUNT as usize] }
    }

    fn share(&self, is: impl Fn(&[f64]) -> bool) -> f64 {
        self.rates.iter().filter(|rates| is(rates)).count() as f64 / self.rates.len() as f64
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|it| *it == name)
    }

    /// Whether some workloads are the highest.
    pub(super) fn are_highest(&self, names: &[&str]) -> Judged {
        self.among(names, names.len(), true)
    }

    /// Whether some workloads are in the upper half, or in the lower.
    pub(super) fn in_half(&self, names: &[&str], upper: bool) -> Judged {
        self.among(names, self.names.len() / 2, upper)
    }

    /// Whether each of some workloads is among the `most` highest, or lowest.
    fn among(&self, names: &[&str], most: usize, highest: bool) -> Judged {
        let own: Vec<usize> = names.iter().filter_map(|name| self.at(name)).collect();
        let beyond = |rates: &[f64], own: usize| {
            rates.iter().filter(|&&it| if highest { it > rates[own] } else { it < rates[own] }).count()
        };
        let all = |rates: &[f64]| own.iter().all(|&own| beyond(rates, own) < most);
        let found = if own.len() == names.len() { verdict(self.share(all)) } else { Verdict::Open };
        let end = if highest { "highest" } else { "lowest" };
        let rule = match () {
            () if most == 1 => format!("the {end}"),
            () if most == names.len() => format!("the {most} {end}"),
            () if highest => "each in the upper half".to_owned(),
            () => "each in the lower half".to_owned(),
        };
        Judged::by(rule, found)
    }

    /// Whether the rate of one workload exceeds so many times another's.
    pub(super) fn exceeds(&self, name: &str, times: f64, other: &str) -> Verdict {
        let (Some(own), Some(other)) = (self.at(name), self.at(other)) else { return Verdict::Open };
        verdict(self.share(|rates| rates[own] > times * rates[other]))
    }
}

/// By type and manifestation, how far off a rate is, as a factor: what the type shares, and its own.
fn errors(ipa: &IpaTable, draws: &mut Draws) -> Vec<Vec<f64>> {
    let mut of_type = |kind: &InstructionType| {
        let shared = kind.common_error().log_error(draws);
        let own = |how: &Manifestation| {
            let rate = kind.rate(&how.name).filter(|rate| rate.0.value > 0.0);
            (shared + rate.map_or(0.0, |rate| rate.0.log_error(draws))).exp()
        };
        ipa.manifestations.iter().map(own).collect()
    };
    ipa.instructions.iter().map(&mut of_type).collect()
}

/// The paper's issue rate of a workload.
fn issue(it: &Measured) -> f64 {
    it.issue[0].as_ref().map_or(0.0, |issue| issue.rate)
}

fn verdict(share: f64) -> Verdict {
    match () {
        () if share >= SURE => Verdict::Holds,
        () if share <= 1.0 - SURE => Verdict::Fails,
        () => Verdict::Open,
    }
}

/// A chance as it may truly be, normal on either side of its estimate.
fn true_chance(it: Bounded, draws: &mut Draws) -> f64 {
    let shifted = Bounded { value: 1.0, low: (it.low - it.value).exp(), high: (it.high - it.value).exp() };
    (it.value + shifted.log_error(draws)).clamp(0.0, 1.0)
}
