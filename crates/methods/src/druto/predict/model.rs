//! The probabilities of the ends of flipped bits, as the flow of values has them.
//!
//! They are the least that agree with each other. Uses of a value by several instructions exclude each other: a sum of a loop goes
//! into the next one or is stored. Of the bits that a flip changes in one value, the worst counts. A branch that goes the other
//! way corrupts what is made between it and its target, and skips the uses there.

use super::checks::kept;
use super::flow::{UseKind, UseSample, ValueFlow, ValueUse};
use super::regions::{Region, Regions};
use std::collections::BTreeSet;

/// Rounds, at most, and the change of a probability that is none.
const ROUNDS: usize = 4000;
const SETTLED: f64 = 1e-12;
/// A sum over a loop of n iterations comes closer to its end by one part in n in a round. After each eight rounds, the ends of
/// all sequences that grow in this way are taken at once (Aitken's process): the sums of a million iterations, too, are done then.
const LEAP: usize = 8;

/// How a flip ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EndChances {
    pub(super) sdc: f64,
    pub(super) due: f64,
}

impl EndChances {
    fn max(self, other: Self) -> Self {
        Self { sdc: self.sdc.max(other.sdc), due: self.due.max(other.due) }
    }

    /// Its parts times a number.
    pub(super) fn times(self, by: f64) -> Self {
        Self { sdc: self.sdc * by, due: self.due * by }
    }

    /// The sum of both.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { sdc: self.sdc + other.sdc, due: self.due + other.due }
    }

    /// The ends of sequences that have come here by two steps, if each step is the same share of the one before; those that do
    /// not grow in this way stay.
    fn leap(self, before: Self, growth: Self) -> Self {
        let of = |here: f64, before: f64, growth: f64| {
            let share = growth / before;
            let grows = growth > SETTLED && share > 0.0 && share < 1.0;
            if grows { (here + growth * share / (1.0 - share)).min(1.0) } else { here }
        };
        Self { sdc: of(self.sdc, before.sdc, growth.sdc), due: of(self.due, before.due, growth.due) }
    }

    /// That one of two comes to pass.
    fn or(self, other: Self) -> Self {
        let either = |one: f64, other: f64| 1.0 - (1.0 - one) * (1.0 - other);
        Self { sdc: either(self.sdc, other.sdc), due: either(self.due, other.due) }
    }

    /// That it comes to pass in one of several uses.
    fn repeated(self, uses: f64) -> Self {
        let of = |chance: f64| 1.0 - (1.0 - chance).powf(uses);
        Self { sdc: of(self.sdc), due: of(self.due) }
    }
}

/// The ends of a flip in each bit of each value.
pub(super) fn chances(flow: &ValueFlow, regions: &Regions) -> Vec<Vec<EndChances>> {
    let mut all: Vec<Vec<EndChances>> =
        flow.made.iter().map(|(_, bits)| vec![EndChances::default(); *bits as usize]).collect();
    let mut grown = all.clone();
    let (kept, feeders) = (kept(flow, regions), feeders(flow, regions));
    let mut stale = vec![true; all.len()];
    for round in 1..=ROUNDS {
        let is_leap = round % LEAP == 0;
        let mut leaps = Vec::new();
        // Backwards: what is made of a value tends to stand behind it.
        for value in (0..all.len()).rev() {
            if !std::mem::take(&mut stale[value]) {
                continue;
            }
            let mut change = 0.0_f64;
            for bit in 0..all[value].len() {
                let new = ends(flow, regions, &kept[value], &all, (value, bit));
                let old = std::mem::replace(&mut all[value][bit], new);
                let growth = new.plus(old.times(-1.0));
                let before = std::mem::replace(&mut grown[value][bit], growth);
                change = change.max(growth.sdc.abs()).max(growth.due.abs());
                if is_leap {
                    leaps.push((value, bit, new.leap(before, growth)));
                }
            }
            if change > SETTLED {
                feeders[value].iter().for_each(|&feeder| stale[feeder] = true);
            }
        }
        for (value, bit, end) in leaps {
            if end != all[value][bit] {
                all[value][bit] = end;
                stale[value] = true;
                feeders[value].iter().for_each(|&feeder| stale[feeder] = true);
            }
        }
        if !stale.contains(&true) {
            break;
        }
    }
    all
}

/// By value, those whose ends follow from its own.
fn feeders(flow: &ValueFlow, regions: &Regions) -> Vec<BTreeSet<usize>> {
    let mut all = vec![BTreeSet::new(); flow.made.len()];
    for (value, uses) in flow.uses.iter().enumerate() {
        for (&(kernel, instruction, kind), it) in uses {
            it.makes.iter().for_each(|&made| {
                all[made].insert(value);
            });
            let region = regions.get(&(kernel, instruction)).filter(|_| kind == UseKind::Branch);
            region.into_iter().flat_map(|region| &region.values).for_each(|&(decided, _)| {
                all[decided].insert(value);
            });
        }
    }
    all
}

fn ends(
    flow: &ValueFlow,
    regions: &Regions,
    kept: &[Vec<f64>],
    all: &[Vec<EndChances>],
    (value, bit): (usize, usize),
) -> EndChances {
    let made = flow.made[value].0.max(1.0);
    let mut sum = EndChances::default();
    for ((&(kernel, instruction, kind), it), kept) in flow.uses[value].iter().zip(kept) {
        let found = of_use(all, regions.get(&(kernel, instruction)), kind, it, bit).times(kept[bit]);
        let uses = it.count / made;
        sum = sum.plus(if uses < 1.0 { found.times(uses) } else { found.repeated(uses) });
    }
    let (sdc, due) = (sum.sdc.min(1.0), sum.due.min(1.0));
    EndChances { sdc: sdc * (1.0 - due), due }
}

/// The ends of a branch the wrong way: each value that it decides about may be wrong in its worst bit. A loop that does not
/// end accesses what it must not.
fn astray(all: &[Vec<EndChances>], region: &Region) -> EndChances {
    let worst = |value: usize| all[value].iter().fold(0.0, |most: f64, it| most.max(it.sdc));
    let sdc = region.values.iter().map(|&(value, share)| worst(value) * share).fold(0.0, f64::max);
    EndChances { sdc: sdc * (1.0 - region.runs_away), due: region.runs_away }
}

fn of_use(all: &[Vec<EndChances>], region: Option<&Region>, kind: UseKind, it: &ValueUse, bit: usize) -> EndChances {
    match kind {
        UseKind::Output => EndChances { sdc: 1.0, due: 0.0 },
        UseKind::Carried => {
            let at = |&value: &usize| all[value][bit.min(all[value].len() - 1)];
            it.makes.iter().map(at).fold(EndChances::default(), EndChances::or)
        }
        UseKind::Branch => region.map_or_else(EndChances::default, |region| astray(all, region)),
        UseKind::Sampled => {
            let of_value = |(&value, &changed): (&usize, &u64)| {
                let mut most = EndChances::default();
                let mut left = changed;
                while let Some(it) = all[value].get(left.trailing_zeros() as usize) {
                    most = most.max(*it);
                    left &= left - 1;
                }
                most
            };
            let of_sample = |(sample, &alike): (&UseSample, &f64)| {
                if sample.traps >> bit & 1 == 1 {
                    return EndChances { sdc: 0.0, due: alike };
                }
                let changed = sample.changed.get(bit).map_or(&[][..], Vec::as_slice);
                let made = it.makes.iter().zip(changed).map(of_value);
                made.fold(EndChances::default(), EndChances::or).times(alike)
            };
            let sum = it.samples.iter().map(of_sample).fold(EndChances::default(), EndChances::plus);
            sum.times(1.0 / it.samples.values().sum::<f64>().max(f64::MIN_POSITIVE))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::ValueKey;
    use super::*;

    #[test]
    fn a_sum_over_a_loop_that_is_stored_is_as_vulnerable_as_the_store() {
        let mut flow = ValueFlow::default();
        let key = |instruction, is_memory| ValueKey { kernel: 0, instruction, position: 0, is_memory };
        let [sum, stored] = [key(1, false), key(2, true)].map(|key| flow.value(key, 2));
        (flow.made[sum].0, flow.made[stored].0) = (10.0, 1.0);
        // Of ten sums, nine go into the next one, where bit 0 goes to bit 0 and bit 1 is lost, and one is stored.
        let sample = UseSample { traps: 0, changed: vec![vec![1], vec![0]] };
        flow.used(sum, (0, 1, UseKind::Sampled), 9.0, &[sum]).sampled(sample);
        flow.used(sum, (0, 2, UseKind::Carried), 1.0, &[stored]);
        flow.used(stored, (0, 9, UseKind::Output), 1.0, &[]);
        let found = chances(&flow, &Regions::new());
        assert_eq!(found[stored][1], EndChances { sdc: 1.0, due: 0.0 });
        assert!((found[sum][0].sdc - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found[sum][1].sdc - 0.1).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_long_loop_that_the_compiler_unrolled_is_as_vulnerable_as_its_store() {
        for (iterations, unrolled) in [(1_000_000, 1), (1_000_000, 4), (1000, 16), (10_000, 2)] {
            let mut flow = ValueFlow::default();
            let mut value =
                |instruction, is_memory| flow.value(ValueKey { kernel: 0, instruction, position: 0, is_memory }, 1);
            let sums: Vec<usize> = (0..unrolled).map(|number| value(number, false)).collect();
            let stored = value(99, true);
            sums.iter().for_each(|&sum| flow.made[sum].0 = iterations as f64);
            flow.made[stored].0 = 1.0;
            for (number, &sum) in (1..).zip(&sums) {
                let next = sums[number as usize % sums.len()];
                let count = iterations - u64::from(number == unrolled);
                flow.used(sum, (0, number % unrolled, UseKind::Carried), count as f64, &[next]);
            }
            flow.used(sums[unrolled as usize - 1], (0, 99, UseKind::Carried), 1.0, &[stored]);
            flow.used(stored, (0, 100, UseKind::Output), 1.0, &[]);
            let found = chances(&flow, &Regions::new());
            assert!(
                sums.iter().all(|&sum| (found[sum][0].sdc - 1.0).abs() < 1e-3),
                "{iterations} {unrolled}: {found:?}"
            );
        }
    }
}
