//! Threads of a path group whose stores are read by the same loads: store equivalence (thesis, Section 2.2).

use inject::threads::{StoreLists, TraceStep};
use inject::{Golden, GoldenLaunch};
use std::collections::BTreeMap;

use super::feeds::Feeds;
use super::operand::SiteOperand;
use super::sites::{PathGroup, PathPart, STORES};
use super::traps::groups_of_threads;

/// Stores that have lists, at most: half a gigabyte.
const MOST_STORES: usize = 1 << 24;

/// Pages of 4 KiB whose last stores are known, at most: a quarter of a gigabyte where words are stored.
const MOST_PAGES: usize = 1 << 16;

/// Divides each group into threads whose stores have the same lists; whether there were more than are kept.
pub(super) fn divide(golden: &Golden, launches: &[(u32, &GoldenLaunch)], groups: &mut [PathGroup]) -> bool {
    let mut selected = vec![false; golden.launches().len()];
    launches.iter().for_each(|(number, _)| selected[*number as usize] = true);
    let lists = StoreLists::of(golden, &selected, (MOST_STORES, MOST_PAGES));
    let by_launch = groups_of_threads(groups.iter());
    let mut parts: Vec<BTreeMap<Option<u128>, PathPart>> = groups.iter().map(|_| BTreeMap::new()).collect();
    for (launch, group_of) in by_launch {
        let of_launch = lists.of_launch(launch as usize, group_of.len());
        for (thread, group) in group_of.into_iter().enumerate() {
            let Some(parts) = parts.get_mut(group as usize) else { continue };
            let of_thread = of_launch.as_ref().map(|lists| lists.of(thread));
            let key = of_thread.map(|lists| lists.iter().fold(0, |hash, &list| join(hash, list)));
            let fresh = || PathPart { threads: Vec::new(), lists: of_thread.map(<[u128]>::to_vec) };
            parts.entry(key).or_insert_with(fresh).threads.push((launch, thread as u64));
        }
    }
    for (group, parts) in groups.iter_mut().zip(parts) {
        group.parts = parts.into_values().collect();
    }
    lists.is_cut()
}

/// The stores on a path.
pub(super) struct StorePath<'a> {
    feeds: &'a Feeds,
    /// By step, the instruction, how many stores with lists were executed before, and whether it is executed.
    steps: Vec<(u32, u32, bool)>,
}

impl<'a> StorePath<'a> {
    /// Those of a path of a program; `listed` says which of its instructions are stores with lists.
    pub(super) fn of(feeds: &'a Feeds, listed: &[bool], path: &[TraceStep]) -> Self {
        let mut stores = 0;
        let step = |at: &TraceStep| {
            let before = stores;
            stores += u32::from(at.executed && listed[at.instruction as usize]);
            (at.instruction, before, at.executed)
        };
        Self { feeds, steps: path.iter().map(step).collect() }
    }

    /// A hash of the lists of the stores that an operand of a step goes to, in threads whose stores have these lists; `None` if it
    /// goes elsewhere, too.
    pub(super) fn list(&self, step: u32, operand: SiteOperand, lists: &[u128]) -> Option<u128> {
        let (instruction, ..) = *self.steps.get(step as usize)?;
        let mut hash = 0;
        for &behind in self.feeds.get(instruction, operand)? {
            let (store, nth, executed) = *self.steps.get((step + behind) as usize)?;
            if store != instruction + behind {
                return None;
            }
            hash = join(hash, if executed { *lists.get(nth as usize)? } else { 1 });
        }
        // The hashes of decisions have no bit as high.
        Some(hash | STORES)
    }
}

/// Adds a list to a hash of lists.
fn join(hash: u128, list: u128) -> u128 {
    (hash ^ list).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).rotate_left(61).wrapping_add(3)
}
