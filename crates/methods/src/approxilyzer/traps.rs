//! Flips in the bases of global accesses that trap, by path group.

use inject::threads::{AddressTraps, BasedAccess, TraceStep};
use inject::{Golden, GoldenLaunch};
use std::collections::BTreeMap;

use super::sites::PathGroup;

/// A step that accesses global memory by a base register.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseStep {
    /// The step.
    pub(super) step: u32,
    /// The number of the register in its function.
    pub(super) register: u32,
    /// Its bits whose flip makes the address misaligned.
    pub(super) misaligned: u64,
    /// Its bits whose flip leaves what is mapped, in all threads of the group.
    pub(super) unmapped: u64,
}

/// Accesses on the paths of all groups that are kept, at most: 128 MiB of masks.
const MOST: usize = 1 << 24;

/// The flips that trap in all threads of a group; nothing if they are not looked for.
pub(super) struct Traps(Option<AddressTraps>);

impl Traps {
    /// Of these groups, in launches of these numbers.
    pub(super) fn of<'a>(
        golden: &Golden,
        launches: &[(u32, &GoldenLaunch)],
        groups: impl ExactSizeIterator<Item = &'a PathGroup>,
        wanted: bool,
    ) -> Self {
        if !wanted {
            return Self(None);
        }
        let mut traps = AddressTraps::new(groups.len(), MOST);
        let by_launch = groups_of_threads(groups);
        for &(number, launch) in launches {
            if let Some(groups) = by_launch.get(&number) {
                traps.add(golden, launch, groups);
            }
        }
        Self(Some(traps))
    }

    /// Whether there were more accesses than are kept.
    pub(super) fn is_cut(&self) -> bool {
        self.0.as_ref().is_some_and(AddressTraps::is_cut)
    }

    /// The accesses on the path of a group; `accesses` are those of its program.
    pub(super) fn steps(&self, group: u32, path: &[TraceStep], accesses: &[Option<BasedAccess>]) -> Vec<BaseStep> {
        let Some(traps) = &self.0 else { return Vec::new() };
        let executed = (0..).zip(path).filter(|(_, at)| at.executed);
        let based = executed.filter_map(|(step, at)| Some((step, accesses.get(at.instruction as usize)?.as_ref()?)));
        let step = |(nth, (step, access)): (usize, (u32, &BasedAccess))| {
            let unmapped = traps.unmapped(group as usize, nth);
            BaseStep { step, register: access.register, misaligned: access.misaligned, unmapped }
        };
        based.enumerate().map(step).collect()
    }
}

/// By launch, the group of each thread.
pub(super) fn groups_of_threads<'a>(groups: impl Iterator<Item = &'a PathGroup>) -> BTreeMap<u32, Vec<u32>> {
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, group) in (0..).zip(groups) {
        for &(launch, thread) in &group.threads {
            let of = all.entry(launch).or_default();
            of.resize(of.len().max(thread as usize + 1), u32::MAX);
            of[thread as usize] = number;
        }
    }
    all
}
