//! Rates as they may truly be: strikes as far off as their errors allow, for all workloads the same, and chances as far off as
//! theirs. What an order of workloads is asked, it is asked in each of these worlds.

use stats::{Bounded, Draws};
use std::collections::BTreeSet;

use super::super::ipa::{InstructionType, IpaTable, Manifestation};
use super::survey::Measured;
use crate::kit::{Judged, Verdict};

/// How sure a verdict is, at least.
pub(super) const SURE: f64 = 0.975;
/// Seeds from here on are of worlds; those of workloads are below.
const SEED: u64 = 1_000_000;
/// Worlds.
pub(super) const COUNT: u64 = 4000;

/// The rates of workloads in all worlds.
pub(super) struct Worlds {
    names: Vec<&'static str>,
    /// By world and workload.
    rates: Vec<Vec<f64>>,
}

impl Worlds {
    /// Two-level rates of the workloads that have an issue rate of the paper's (0) or ours (1).
    pub(super) fn of_rates(all: &[&Measured], ipa: &IpaTable, at: usize) -> Self {
        let with: Vec<(&Measured, f64)> =
            all.iter().filter_map(|&it| Some((it, it.issue[at].as_ref()?.rate))).collect();
        let world = |number: u64| {
            let mut draws = Draws::new(SEED + at as u64, number);
            let errors = errors(ipa, &mut draws);
            let mut rate = |(it, issue): &(&Measured, f64)| {
                let mut sum = 0.0;
                for kind in &it.composition.types {
                    for cell in kind.cells.iter().filter(|cell| cell.ends.is_some()) {
                        sum += kind.fraction.0
                            * errors[kind.number][cell.manifestation]
                            * cell.rate.0.value
                            * true_chance(cell.sdc().0, &mut draws);
                    }
                }
                sum * issue
            };
            with.iter().map(&mut rate).collect()
        };
        Self { names: with.iter().map(|(it, _)| it.name).collect(), rates: (0..COUNT).map(world).collect() }
    }

    /// Chances by APA only.
    pub(super) fn of_chances(with: &[&Measured]) -> Self {
        let world = |number: u64| {
            let mut draws = Draws::new(SEED + 2, number);
            with.iter().map(|it| true_chance(it.apa_only(), &mut draws)).collect()
        };
        Self { names: with.iter().map(|it| it.name).collect(), rates: (0..COUNT).map(world).collect() }
    }

    /// How many times the two-level rate IPA only is; no issue rate takes part.
    pub(super) fn of_excess(with: &[&Measured], ipa: &IpaTable) -> Self {
        let world = |number: u64| {
            let mut draws = Draws::new(SEED + 3, number);
            let errors = errors(ipa, &mut draws);
            let mut excess = |it: &&Measured| {
                let (mut struck, mut silent) = (0.0, 0.0);
                for kind in &it.composition.types {
                    for cell in kind.cells.iter().filter(|cell| cell.ends.is_some()) {
                        let rate = kind.fraction.0 * errors[kind.number][cell.manifestation] * cell.rate.0.value;
                        struck += rate;
                        silent += rate * true_chance(cell.sdc().0, &mut draws);
                    }
                }
                struck / silent
            };
            with.iter().map(&mut excess).collect()
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
        let pairs = self.rates.iter().zip(&other.rates);
        let differ = pairs.filter(|(own, theirs)| five(own) != five(theirs)).count();
        Judged::by("at least one", verdict(differ as f64 / self.rates.len() as f64))
    }

    /// Whether those that are lowest by other numbers of the same workloads, a third, are the lowest here, too.
    pub(super) fn lowest_are(&self, other: &Self) -> Judged {
        let most = self.names.len().div_ceil(3);
        let lowest = |rates: &[f64]| {
            let mut order: Vec<usize> = (0..rates.len()).collect();
            order.sort_by(|&a, &b| rates[a].total_cmp(&rates[b]));
            order.into_iter().take(most).collect::<BTreeSet<usize>>()
        };
        let pairs = self.rates.iter().zip(&other.rates);
        let same = pairs.filter(|(own, theirs)| lowest(own) == lowest(theirs)).count();
        Judged::by(format!("the {most} lowest are the {most} lowest"), verdict(same as f64 / self.rates.len() as f64))
    }

    /// Issue rates, which are the same in all worlds.
    pub(super) fn of_issue(with: &[&Measured], at: usize) -> Self {
        let rates: Vec<f64> = with.iter().map(|it| it.issue[at].as_ref().map_or(0.0, |issue| issue.rate)).collect();
        Self { names: with.iter().map(|it| it.name).collect(), rates: vec![rates; COUNT as usize] }
    }

    fn share(&self, is: impl Fn(&[f64]) -> bool) -> f64 {
        self.rates.iter().filter(|rates| is(rates)).count() as f64 / self.rates.len() as f64
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|it| *it == name)
    }

    /// Whether each of some workloads is among the `most` highest, or lowest.
    pub(super) fn among(&self, names: &[&str], most: usize, highest: bool) -> Judged {
        let verdict = names.iter().map(|name| {
            let Some(own) = self.at(name) else { return Verdict::Open };
            let beyond = |rates: &[f64]| {
                rates.iter().filter(|&&it| if highest { it > rates[own] } else { it < rates[own] }).count()
            };
            verdict(self.share(|rates| beyond(rates) < most))
        });
        let end = if highest { "highest" } else { "lowest" };
        let rule = if most == 1 { format!("the {end}") } else { format!("each among the {most} {end}") };
        Judged::by(rule, Verdict::all(verdict))
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
