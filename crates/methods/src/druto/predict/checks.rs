//! Uses that a branch skips if a flip makes it go the other way: an index that fails its bounds check never makes an address.

use std::collections::BTreeMap;

use super::flow::{UseKind, ValueFlow};
use super::regions::Regions;

/// Predicates that make predicates, at most, from a comparison to its branch.
const DEPTH: u32 = 4;

/// By value, use and bit, the share of flips after which the use still comes to pass.
pub(super) type KeptUses = Vec<Vec<Vec<f64>>>;

/// The shares of all uses.
pub(super) fn kept(flow: &ValueFlow, regions: &Regions) -> KeptUses {
    let of_bit = |value: usize, bit: usize| {
        let turned = turned(flow, value, bit, DEPTH);
        let of_use = |&(kernel, instruction, kind): &(u32, u32, UseKind)| {
            let skips = |(branch, share): (&(u32, u32), &f64)| {
                let region = regions.get(branch).filter(|region| branch.0 == kernel && !region.is_back)?;
                region.inside.binary_search(&instruction).is_ok().then_some(*share)
            };
            if kind == UseKind::Output { 1.0 } else { 1.0 - turned.iter().filter_map(skips).fold(0.0, f64::max) }
        };
        flow.uses[value].keys().map(of_use).collect::<Vec<f64>>()
    };
    let of = |(value, &(_, bits)): (usize, &(f64, u32))| {
        let by_bit: Vec<Vec<f64>> = (0..bits as usize).map(|bit| of_bit(value, bit)).collect();
        (0..flow.uses[value].len()).map(|at| by_bit.iter().map(|uses| uses[at]).collect()).collect()
    };
    flow.made.iter().enumerate().map(of).collect()
}

/// The branches that a flip turns through predicates alone, and in which share of its uses.
fn turned(flow: &ValueFlow, value: usize, bit: usize, depth: u32) -> BTreeMap<(u32, u32), f64> {
    let mut found: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (&(kernel, instruction, kind), it) in &flow.uses[value] {
        if kind == UseKind::Branch && flow.made[value].1 == 1 {
            found.insert((kernel, instruction), 1.0);
        }
        let [made] = it.makes[..] else { continue };
        if kind != UseKind::Sampled || flow.made[made].1 != 1 || depth == 0 {
            continue;
        }
        let is_changed = |changed: &Vec<Vec<u64>>| changed.get(bit).is_some_and(|it| it.iter().any(|bits| *bits != 0));
        let all: f64 = it.samples.values().sum();
        let changed: f64 = it.samples.iter().filter(|(it, _)| is_changed(&it.changed)).map(|(_, alike)| alike).sum();
        if changed == 0.0 {
            continue;
        }
        for (branch, share) in turned(flow, made, 0, depth - 1) {
            let known = found.entry(branch).or_default();
            *known = known.max(share * changed / all);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::flow::{UseSample, ValueKey};
    use super::super::regions::Region;
    use super::*;

    #[test]
    fn an_index_that_fails_its_check_is_not_used() {
        let mut flow = ValueFlow::default();
        let mut value =
            |instruction, bits| flow.value(ValueKey { kernel: 0, instruction, position: 0, is_memory: false }, bits);
        let (index, check, address) = (value(0, 2), value(1, 1), value(3, 2));
        // Bit 1 of the index turns the branch at 2, which decides about 3; so it does in one of two uses.
        let checked = |high| UseSample { traps: 0, changed: vec![vec![0], vec![high]] };
        flow.used(index, (0, 1, UseKind::Sampled), 1.0, &[check]).sampled(checked(1));
        flow.used(index, (0, 1, UseKind::Sampled), 1.0, &[check]).sampled(checked(0));
        flow.used(check, (0, 2, UseKind::Branch), 2.0, &[]);
        flow.used(index, (0, 3, UseKind::Sampled), 2.0, &[address]);
        let region = Region { inside: vec![3], entry: 3, ..Region::default() };
        let kept = kept(&flow, &Regions::from([((0, 2), region)]));
        assert_eq!(kept[index], [[1.0, 1.0], [1.0, 0.5]]);
    }
}
