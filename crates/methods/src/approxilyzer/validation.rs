//! Pilots held against other members of their classes (thesis, Section 2.4.3): which pilots, and which members.
//!
//! Pilots are drawn by class and bit, those of control equivalence and of store equivalence apart, each with the same chance
//! among all studied ones of a class with other members. Of each, members are drawn without replacement; a class that has no more is
//! run whole. First uses that are sites of their own end as their definition and are not drawn.

use campaign::{LabelColumn, Planner, Results, RunIndex, SelectionWords, Site, StoreError, TargetError};
use inject::site::LABELS;
use outcome::Criteria;
use stats::Draws;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::agreement::AGREEMENTS;
use super::ends::SiteEnd;
use super::instructions::PilotOutcomes;
use super::settings::ValidationSize;
use super::target::Approxilyzer;

/// Words that make draws of pilots, and of members, independent of those of the method.
const PILOTS: u64 = 0x51ed_2701_7d4e_a3c9;
const MEMBERS: u64 = 0xa3c5_96f1_0b27_88ed;

/// Runs of a validation, at most: the plan of each is kept.
const MOST: u64 = 5_000_000;

/// Pilots that are held against members of their classes.
pub(super) struct Validation {
    method: Arc<Approxilyzer>,
    size: ValidationSize,
    /// The pilots that may be drawn: under control equivalence, and under store equivalence.
    populations: [Population; 2],
    drawn: Vec<DrawnPilot>,
    /// By drawn pilot, how many runs come before its own; behind the last one all.
    starts: Vec<u64>,
}

/// Pilots of which some are drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Population {
    /// The studied classes, each with how many pilots come before its own.
    classes: Vec<(usize, u64)>,
    /// How many pilots there are.
    pub(super) pilots: u64,
    /// The sites of their classes: in destinations, and in registers that are read.
    pub(super) sites: [u64; 2],
    /// The sites of studied classes of one member, whose pilots predict nothing else.
    pub(super) alone: u64,
}

/// A pilot that is validated.
#[derive(Clone, Copy, Debug)]
struct DrawnPilot {
    class: usize,
    bit: u32,
    /// Whether loads join its class.
    by_stores: bool,
    /// How many other members are run.
    members: u64,
}

/// A pilot that was held against members of its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValidatedPilot {
    /// Whether loads join its class; if not, decisions do.
    pub(super) by_stores: bool,
    /// Whether it is in a register that is read; if not, it is in a destination.
    pub(super) is_source: bool,
    /// Its end.
    pub(super) end: SiteEnd,
    /// The sites that it stands for.
    pub(super) weight: f64,
    /// The shares of members that it predicts, by agreement.
    pub(super) accuracy: [f64; 9],
}

impl Validation {
    /// Of the studied pilots of a method.
    ///
    /// # Errors
    /// If no class has another member, or it takes more runs than can be made.
    pub(super) fn new(method: Arc<Approxilyzer>, size: ValidationSize) -> Result<Self, TargetError> {
        let mut populations = [Population::default(), Population::default()];
        for (number, _) in method.studied() {
            let class = &method.sites().classes[number];
            let population = &mut populations[usize::from(class.by_stores())];
            if class.members < 2 {
                population.alone += class.sites();
                continue;
            }
            population.classes.push((number, population.pilots));
            population.pilots += u64::from(class.bits.count());
            population.sites[usize::from(class.operand.is_source())] += class.sites();
        }
        let mut drawn = Vec::new();
        for (by_stores, population) in [false, true].into_iter().zip(&populations) {
            let mut draws = Draws::new(size.seed ^ PILOTS, by_stores.into());
            for pilot in distinct(&mut draws, size.pilots.min(population.pilots), population.pilots) {
                let at = population.classes.partition_point(|(_, start)| *start <= pilot).saturating_sub(1);
                let Some(&(class, start)) = population.classes.get(at) else { continue };
                let of = &method.sites().classes[class];
                let Some(bit) = of.bits.iter().nth((pilot - start) as usize) else { continue };
                drawn.push(DrawnPilot { class, bit, by_stores, members: size.members.min(of.members - 1) });
            }
        }
        let (mut runs, mut starts) = (0, vec![0]);
        for pilot in &drawn {
            runs += 1 + pilot.members;
            starts.push(runs);
        }
        match runs {
            0 => Err(TargetError::new("validate pilots: no studied class has another member than its pilot")),
            runs if runs > MOST => Err(TargetError::new(format!(
                "validate {size}: that takes {runs} runs, and {MOST} are the most; give fewer pilots or members"
            ))),
            _ => Ok(Self { method, size, populations, drawn, starts }),
        }
    }

    /// How many runs it takes.
    pub(super) fn runs(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// How many pilots and members are run.
    pub(super) fn size(&self) -> ValidationSize {
        self.size
    }

    /// The method whose pilots they are.
    pub(super) fn method(&self) -> &Approxilyzer {
        &self.method
    }

    /// The pilots that may be drawn: under control equivalence, and under store equivalence.
    pub(super) fn populations(&self) -> &[Population; 2] {
        &self.populations
    }

    /// The members of a drawn pilot that are run, as numbers among all; the pilot itself is the first.
    fn members(&self, pilot: &DrawnPilot, seed: u64) -> Vec<u64> {
        let all = self.method.sites().classes[pilot.class].members;
        let own = self.method.pilot(pilot.class, seed).unwrap_or_default();
        let mut draws = Draws::new(seed ^ MEMBERS, (pilot.class as u64) << 7 | u64::from(pilot.bit));
        let others = distinct(&mut draws, pilot.members, all - 1);
        std::iter::once(own).chain(others.into_iter().map(|other| other + u64::from(other >= own))).collect()
    }

    /// The pilots with the members that came to an outcome, and how many pilots were lost.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn judged(
        &self,
        results: &Results,
        criteria: Option<&Criteria>,
    ) -> Result<(Vec<ValidatedPilot>, u64), StoreError> {
        let outcomes = PilotOutcomes::of(Some(results), criteria)?;
        let end = |run| outcomes.get(run).map(SiteEnd::from);
        let (mut all, mut lost) = (Vec::new(), 0);
        for (pilot, &start) in self.drawn.iter().zip(&self.starts) {
            let members: Vec<SiteEnd> = (1..=pilot.members).filter_map(|member| end(start + member)).collect();
            let Some(own) = end(start).filter(|_| !members.is_empty()) else {
                lost += 1;
                continue;
            };
            let class = &self.method.sites().classes[pilot.class];
            let predicted = |member: &&SiteEnd, of: usize| AGREEMENTS[of].holds(own, **member);
            let mut accuracy = [0.0; 9];
            for (of, accuracy) in accuracy.iter_mut().enumerate() {
                *accuracy = members.iter().filter(|member| predicted(member, of)).count() as f64 / members.len() as f64;
            }
            all.push(ValidatedPilot {
                by_stores: pilot.by_stores,
                is_source: class.operand.is_source(),
                end: own,
                weight: (class.members * class.weight) as f64,
                accuracy,
            });
        }
        Ok((all, lost))
    }
}

/// This number of different numbers below a bound, each set of them with the same chance (R. W. Floyd).
fn distinct(draws: &mut Draws, count: u64, bound: u64) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for last in bound.saturating_sub(count)..bound {
        let drawn = draws.below(last + 1).unwrap_or_default();
        if !found.insert(drawn) {
            found.insert(last);
        }
    }
    found
}

impl Planner for Validation {
    fn runs(&self) -> Option<u64> {
        Some(Self::runs(self))
    }

    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let mut known: Option<(usize, Vec<u64>, Vec<u64>)> = None;
        let mut site = |run: &RunIndex| {
            let at = self.starts.partition_point(|&start| start <= run.0).checked_sub(1)?;
            let pilot = self.drawn.get(at)?;
            if known.as_ref().is_none_or(|(of, ..)| *of != at) {
                known = Some((at, self.members(pilot, seed), self.method.place_ends(pilot.class)));
            }
            let (_, members, ends) = known.as_ref()?;
            let number = (run.0 - self.starts[at]) as usize;
            let site = self.method.member(pilot.class, ends, *members.get(number)?, pilot.bit)?;
            let class = &self.method.sites().classes[pilot.class];
            Some(if number == 0 { Site { weight: class.members * class.weight, ..site } } else { site })
        };
        let planned = runs.iter().map(|run| {
            let none = || TargetError::new(format!("plan run {run}: there are {}; leave `runs` out", Self::runs(self)));
            site(run).ok_or_else(none)
        });
        planned.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn sets_of_different_numbers_have_the_same_chance() {
        let mut found: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        for seed in 0..6_000 {
            let set = distinct(&mut Draws::new(seed, 1), 2, 4);
            *found.entry(set.into_iter().collect()).or_default() += 1;
        }
        assert_eq!(found.len(), 6);
        assert!(found.values().all(|count| count.abs_diff(1_000) < 150), "{found:?}");
        assert_eq!(distinct(&mut Draws::new(0, 0), 3, 3).into_iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(distinct(&mut Draws::new(0, 0), 0, 0).is_empty());
    }
}
