//! Every destination that the threads of a path group write, with what is claimed of its bits: what joins a site of a thread to
//! its class.

use inject::threads::Thread;
use std::collections::BTreeMap;

use super::claims::Claim;
use super::operand::SiteOperand;
use super::sites::{Sites, WalkStep};

/// A class that does not exist.
const NONE: u32 = u32::MAX;

/// The destinations of a group, with their classes.
struct GroupWalk {
    /// In the order of dynamic instructions and destinations.
    steps: Vec<WalkStep>,
    /// By step, the class that it has in all threads.
    classes: Vec<u32>,
    /// By part of the group and step, the class that it has there; nothing for a part without classes of its own.
    parts: Vec<Vec<u32>>,
}

/// The destinations of all threads of the sites, each once for all threads of a group.
pub(super) struct Walks {
    groups: Vec<GroupWalk>,
    /// By launch, the group of each thread and the part that the thread is in.
    threads: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl WalkStep {
    /// The claim about a bit; `None` of one that is in a class.
    pub(super) fn claim(&self, bit: u32) -> Option<Claim> {
        let is_in = |word: u64| word.checked_shr(bit).unwrap_or_default() & 1 == 1;
        match () {
            () if self.read_bits == 0 => Some(Claim::NeverRead),
            () if bit >= u32::from(self.read_bits) => Some(Claim::UnreadBit),
            () if is_in(self.misaligned) => Some(Claim::Misaligned),
            () if is_in(self.unmapped) => Some(Claim::Unmapped),
            () => None,
        }
    }
}

impl Walks {
    /// Those of sites that were found with their steps, which are taken out of them.
    pub(super) fn of(sites: &mut Sites) -> Self {
        let steps = sites.steps.take().unwrap_or_default();
        let mut walks = Self { groups: Vec::new(), threads: BTreeMap::new() };
        for ((number, group), steps) in (0..).zip(&sites.groups).zip(steps) {
            walks.place(&group.threads, (number, NONE));
            for (part, of_part) in (0..).zip(&group.parts) {
                walks.place(&of_part.threads, (number, part));
            }
            let parts = vec![Vec::new(); group.parts.len()];
            walks.groups.push(GroupWalk { classes: vec![NONE; steps.len()], parts, steps });
        }
        for (number, class) in (0..).zip(&sites.classes) {
            let SiteOperand::Destination(position) = class.operand else { continue };
            for place in &class.places {
                let GroupWalk { steps, classes, parts } = &mut walks.groups[place.group as usize];
                let key = (place.dynamic, position);
                let Ok(at) = steps.binary_search_by_key(&key, |it| (it.dynamic.into(), it.position)) else { continue };
                match place.part.and_then(|part| parts.get_mut(part as usize)) {
                    Some(part) => {
                        part.resize(steps.len(), NONE);
                        part[at] = number;
                    }
                    None => classes[at] = number,
                }
            }
        }
        walks
    }

    fn place(&mut self, threads: &[(u32, u64)], at: (u32, u32)) {
        for &(launch, thread) in threads {
            let of = self.threads.entry(launch).or_default();
            of.resize(of.len().max(thread as usize + 1), (NONE, NONE));
            of[thread as usize] = at;
        }
    }

    /// The path group of a thread, if the sites hold it.
    pub(super) fn group(&self, (launch, thread): Thread) -> Option<usize> {
        let (group, _) = self.threads.get(&launch)?.get(thread as usize)?;
        Some(*group as usize).filter(|&group| group < self.groups.len())
    }

    /// The destinations that a thread writes, in its order, each with its class; none if the sites do not hold the thread.
    pub(super) fn of_thread(&self, (launch, thread): Thread) -> impl Iterator<Item = (&WalkStep, Option<u32>)> {
        let at = self.threads.get(&launch).and_then(|threads| threads.get(thread as usize));
        let group = at.and_then(|&(group, part)| Some((self.groups.get(group as usize)?, part)));
        group.into_iter().flat_map(|(group, part)| {
            let of_part = group.parts.get(part as usize).map_or(&[][..], Vec::as_slice);
            let class = |at: usize| {
                let own = of_part.get(at).copied().filter(|&class| class != NONE);
                Some(own.unwrap_or(group.classes[at])).filter(|&class| class != NONE)
            };
            group.steps.iter().enumerate().map(move |(at, step)| (step, class(at)))
        })
    }

    /// How many sites a thread has.
    pub(super) fn sites(&self, thread: Thread) -> u64 {
        self.of_thread(thread).map(|(step, _)| u64::from(step.bits)).sum()
    }
}
