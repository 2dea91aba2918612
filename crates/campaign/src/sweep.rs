//! What an exhaustive campaign runs on: every bit of every destination of every dynamic instruction selected.
//!
//! A [`TargetSystem`](crate::TargetSystem) says what there is to run, as a [`Sweep`], and gives each worker a
//! [`Sweeper`], which runs it a unit at a time. A unit is a warp's share of the faults; what it comes to depends on the
//! unit alone, not on the units before, so that workers, shards and interruptions change nothing.
//!
//! # Weights
//!
//! A sampled campaign draws a dynamic instruction, then one of its destinations, then a bit. The same weights make an
//! exhaustive one comparable with it: a fault weighs 1/[`members`](Sweep::members) ×
//! 1/[`elements`](SweptOperand::elements) × 1/[`bits`](SweptOperand::bits). All faults together weigh 1.
//!
//! A planner may hand over a population of its own, unit by unit ([`Planner::unit`](crate::Planner::unit)): faults that
//! stand for others. The weight of such a fault is multiplied by the [`weight`](SweptOperand::weight) of its operand.

use serde::{Deserialize, Serialize};

use crate::config::Shard;
use crate::failure::RunFailure;
use crate::site::{Site, Spot};
use outcome::{FAILED_CODE, Outcome};

/// Everything that an exhaustive campaign runs: its faults, in units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// One for each destination of each static instruction in the population, in a fixed order.
    pub operands: Vec<SweptOperand>,
    /// The faults of each unit of work; units are numbered from 0.
    pub unit_faults: Vec<u64>,
    /// Dynamic instructions of the population (the `N` of the weights).
    pub members: u64,
}

/// An operand that every fault of its instruction hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptOperand {
    /// The place.
    pub spot: Spot,
    /// How many operands of this instruction can be hit: the weight of one is 1/`elements`.
    pub elements: u32,
    /// Its width: the weight of one bit is 1/`bits`.
    pub bits: u32,
    /// How many faults each of its faults stands for; 1 where every fault is run.
    pub weight: u64,
}

/// A fault of a unit of a planner's own population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptFault {
    /// Its site, as a [`Worker`](crate::Worker) takes it.
    pub site: Site,
    /// The index into [`Sweep::operands`].
    pub operand: u32,
    /// The bit, below the width of the operand.
    pub bit: u32,
}

/// What a unit came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweptUnit {
    /// How often each bit of each operand came to an outcome, sorted; nothing is counted of faults that failed.
    pub counts: Vec<SweptCount>,
    /// The outcome of every fault of the unit in the order of threads, dynamic instructions, destinations and bits, as
    /// [`Outcome::code`] or, for one that could not be run, [`FAILED_CODE`].
    pub outcomes: Vec<u8>,
    /// By which tiers its faults were run.
    pub tiers: SweptTiers,
    /// Landed faults in which the host could have seen a difference before the end.
    pub host_visible: u64,
}

/// How often a bit of an operand came to an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SweptCount {
    /// The index into [`Sweep::operands`].
    pub operand: u32,
    /// The bit, from 0.
    pub bit: u32,
    /// The outcome.
    pub outcome: Outcome,
    /// How often.
    pub count: u64,
}

/// Faults by the path that the engine took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptTiers {
    /// Everything was executed again.
    pub full: u64,
    /// Only what the fault could have changed.
    pub delta: u64,
    /// In the lanes of a warp.
    pub lanes: u64,
    /// Decided without running anything.
    pub decided: u64,
}

/// Runs one unit after the other; lives on one thread.
pub trait Sweeper {
    /// Runs all faults of `unit`. `None` if `stop` was raised before it was done; `stop` is cheap, and asking it a few
    /// times a second is enough.
    ///
    /// # Errors
    /// When the unit could not be run; all its faults then count as failed. What the *program* did wrong is an outcome,
    /// not an error.
    fn unit(&mut self, unit: u64, stop: &dyn Fn() -> bool) -> Result<Option<SweptUnit>, RunFailure>;
}

impl Sweep {
    /// How many units there are.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.unit_faults.len() as u64
    }

    /// The faults of `unit`; none if there is no such unit.
    #[must_use]
    pub fn faults_of(&self, unit: u64) -> u64 {
        usize::try_from(unit).ok().and_then(|unit| self.unit_faults.get(unit)).copied().unwrap_or(0)
    }

    /// Faults over all units.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.unit_faults.iter().sum()
    }

    /// The size of the part of it that is made in `shard`.
    pub(crate) fn size(&self, shard: Shard) -> SweepSize {
        let units = shard.share_of(self.units());
        SweepSize {
            operands: self.operands.len() as u64,
            units,
            faults: (0..units).map(|position| self.faults_of(shard.run_at(position))).sum(),
            members: self.members,
        }
    }

    /// What the file of the units made in `shard` begins with.
    pub(crate) fn outline(&self, shard: Shard) -> Outline {
        Outline { operands: self.operands.clone(), size: self.size(shard) }
    }

    /// Checks what a sweeper says of a unit: one outcome for each fault, and the counts are of these outcomes.
    pub(crate) fn check(&self, unit: u64, swept: &SweptUnit) -> Result<(), RunFailure> {
        let wrong = |what: String| Err(RunFailure::new(format!("sweep unit {unit}: {what}; this is a bug")));
        let faults = self.faults_of(unit);
        if swept.outcomes.len() as u64 != faults {
            return wrong(format!("it has {faults} faults, but {} outcomes were seen", swept.outcomes.len()));
        }
        let mut by_code = [0_u64; 256];
        for &code in &swept.outcomes {
            by_code[usize::from(code)] += 1;
        }
        by_code[usize::from(FAILED_CODE)] = 0;
        for count in &swept.counts {
            let operand = self.operands.get(count.operand as usize);
            if operand.is_none_or(|operand| count.bit >= operand.bits) {
                return wrong(format!("there is no bit {} of operand {}", count.bit, count.operand));
            }
            let left = &mut by_code[usize::from(count.outcome.code())];
            *left = left.wrapping_sub(count.count);
        }
        match by_code.iter().position(|&left| left != 0) {
            Some(code) => wrong(format!("its counts and its outcomes disagree about code {code:#04x}")),
            None => Ok(()),
        }
    }
}

/// What the file of a shard's units says of all units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    pub(crate) operands: Vec<SweptOperand>,
    /// Of the units that the file is for.
    pub(crate) size: SweepSize,
}

/// The size of a sweep, or of a shard's part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SweepSize {
    pub(crate) operands: u64,
    pub(crate) units: u64,
    pub(crate) faults: u64,
    pub(crate) members: u64,
}

/// Adds up counts of the same, sorted: each is there once then.
pub(crate) fn combine(mut counts: Vec<SweptCount>) -> Vec<SweptCount> {
    // Stable: the counts of each unit are sorted, and such stretches are merged.
    counts.sort();
    counts.dedup_by(|next, kept| {
        let same = (next.operand, next.bit, next.outcome) == (kept.operand, kept.bit, kept.outcome);
        kept.count += if same { next.count } else { 0 };
        same
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Masked;

    fn operand(bits: u32) -> SweptOperand {
        SweptOperand { spot: Spot::default(), elements: 1, bits, weight: 1 }
    }

    /// A sweep of one unit of two faults, and what it should come to.
    fn unit() -> (Sweep, SweptUnit) {
        let outcome = Outcome::Masked(Masked::Logical);
        let count = |bit| SweptCount { operand: 0, bit, outcome, count: 1 };
        let swept =
            SweptUnit { counts: vec![count(0), count(1)], outcomes: vec![outcome.code(); 2], ..SweptUnit::default() };
        (Sweep { operands: vec![operand(2)], unit_faults: vec![2], members: 1 }, swept)
    }

    fn check(spoil: impl FnOnce(&mut SweptUnit)) -> Option<String> {
        let (sweep, mut swept) = unit();
        spoil(&mut swept);
        sweep.check(0, &swept).err().map(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_unit_whose_counts_are_those_of_its_outcomes_is_taken() {
        assert_eq!(check(|_| {}), None);
        let one_failed = |swept: &mut SweptUnit| {
            swept.outcomes[0] = FAILED_CODE;
            swept.counts.remove(0);
        };
        assert_eq!(check(one_failed), None);
    }

    #[test]
    fn a_unit_that_contradicts_itself_or_the_sweep_is_not_taken() {
        let text = |spoil: fn(&mut SweptUnit)| check(spoil).expect("the unit is refused");
        let few = "sweep unit 0: it has 2 faults, but 1 outcomes were seen; this is a bug";
        assert_eq!(text(|swept| swept.outcomes.truncate(1)), few);
        let contradiction = "sweep unit 0: its counts and its outcomes disagree about code 0x02; this is a bug";
        assert_eq!(text(|swept| swept.counts[0].count = 2), contradiction);
        assert_eq!(text(|swept| swept.outcomes[0] = FAILED_CODE), contradiction);
        let unknown = "sweep unit 0: its counts and its outcomes disagree about code 0x7f; this is a bug";
        assert_eq!(text(|swept| (swept.outcomes[0], swept.counts[0].count) = (0x7f, 0)), unknown);
        let bit = "sweep unit 0: there is no bit 2 of operand 0; this is a bug";
        assert_eq!(text(|swept| swept.counts[1].bit = 2), bit);
        let operand = "sweep unit 0: there is no bit 1 of operand 1; this is a bug";
        assert_eq!(text(|swept| swept.counts[1].operand = 1), operand);
    }
}
