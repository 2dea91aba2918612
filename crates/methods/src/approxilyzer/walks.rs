//! Every destination that the threads of a path group write, with its class: what joins a site of a thread to its class.

use inject::Golden;
use inject::threads::{PathDestinations, Thread, traces};
use std::collections::BTreeMap;

use super::operand::{Bits, SiteOperand};
use super::sites::Sites;

/// A destination that the threads of a group write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkStep {
    /// The class, an index into [`Sites::classes`]; `None` where no instruction reads the value.
    pub(super) class: Option<u32>,
    /// The dynamic instruction of the thread, from 0.
    pub(super) dynamic: u32,
    /// Its position among the destinations of the instruction.
    pub(super) position: u8,
    /// How many bits it has.
    pub(super) bits: u32,
    /// Those that are in the class; the others are pruned.
    pub(super) read: Bits,
}

/// The destinations of all threads of the sites, each once for all threads of a group.
pub(super) struct Walks {
    /// By group, in the order of dynamic instructions and destinations.
    steps: Vec<Vec<WalkStep>>,
    /// By launch, the group of each thread.
    groups: BTreeMap<u32, Vec<u32>>,
}

impl Walks {
    /// Those of sites that were found in this golden run.
    pub(super) fn of(golden: &Golden, sites: &Sites) -> Self {
        let mut walks = Self { steps: vec![Vec::new(); sites.groups.len()], groups: BTreeMap::new() };
        let mut representatives: BTreeMap<u32, BTreeMap<u64, u32>> = BTreeMap::new();
        for (number, group) in (0..).zip(&sites.groups) {
            if let Some(&(launch, thread)) = group.threads.first() {
                representatives.entry(launch).or_default().insert(thread, number);
            }
            for &(launch, thread) in &group.threads {
                let of = walks.groups.entry(launch).or_default();
                of.resize(of.len().max(thread as usize + 1), u32::MAX);
                of[thread as usize] = number;
            }
        }
        let classes = classes_by_place(sites);
        for (launch, wanted) in representatives {
            let Some(launch) = golden.launches().get(launch as usize) else { continue };
            let destinations = PathDestinations::of(launch);
            let threads: Vec<u64> = wanted.keys().copied().collect();
            traces(golden, launch, &threads, |thread, path| {
                let Some(&group) = wanted.get(&thread) else { return };
                let places = &classes[group as usize];
                let step = |it: inject::threads::PathDestination| {
                    let (dynamic, position) = (it.dynamic as u32, it.position);
                    let found = places.binary_search_by_key(&(dynamic, position), |&(place, _)| place);
                    WalkStep {
                        class: found.ok().map(|at| places[at].1),
                        dynamic,
                        position,
                        bits: it.bits,
                        read: Bits::range(0..it.read_bits),
                    }
                };
                walks.steps[group as usize] = destinations.on(launch, path).into_iter().map(step).collect();
            });
        }
        walks
    }

    /// The destinations that a thread writes, in its order; none if the sites do not hold it.
    pub(super) fn of_thread(&self, (launch, thread): Thread) -> &[WalkStep] {
        let group = self.groups.get(&launch).and_then(|groups| groups.get(thread as usize));
        group.and_then(|&group| self.steps.get(group as usize)).map_or(&[], Vec::as_slice)
    }
}

/// By group, the class of each destination that has one: dynamic instruction and position, ascending, and the class.
fn classes_by_place(sites: &Sites) -> Vec<Vec<((u32, u8), u32)>> {
    let mut all = vec![Vec::new(); sites.groups.len()];
    for (number, class) in (0..).zip(&sites.classes) {
        for place in &class.places {
            if let SiteOperand::Destination(position) = class.operand {
                all[place.group as usize].push(((place.dynamic as u32, position), number));
            }
        }
    }
    all.iter_mut().for_each(|places| places.sort_unstable());
    all
}
