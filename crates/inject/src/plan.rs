//! From the words of a campaign to sites: the population, whole or in strata, and draws from it.

use crate::draw::Drawer;
use crate::golden::Golden;
use crate::resolve::resolve;
use crate::sample::{census, least};
use crate::threads::by_count;
use campaign::config::Stratify;
use campaign::{RunIndex, Stratum, TargetError};
use counts::Counts;
use facts::Group;
use fault::{Census, Fault, Member, Selection};
use stats::{Cumulative, Draws};
use std::collections::BTreeSet;

/// A population that runs are drawn from.
#[derive(Debug)]
pub(crate) struct SamplingFrame {
    parts: Vec<Part>,
    stratified: bool,
}

/// A stratum, or all.
#[derive(Debug)]
struct Part {
    name: String,
    /// What its members are numbered by.
    selection: Selection,
    members: Members,
}

#[derive(Debug)]
enum Members {
    Census(Census),
    /// Threads of some launches: the launch, and their number there.
    Threads(Cumulative<(u32, u64)>),
}

impl Members {
    fn total(&self) -> u64 {
        match self {
            Self::Census(census) => census.total(),
            Self::Threads(threads) => threads.total(),
        }
    }

    fn find_all(&self, numbers: &[u64]) -> Vec<Option<Member>> {
        match self {
            Self::Census(census) => census.find_all(numbers),
            Self::Threads(threads) => numbers.iter().map(|&number| find(threads, number)).collect(),
        }
    }
}

fn find(threads: &Cumulative<(u32, u64)>, number: u64) -> Option<Member> {
    let (&(launch, thread), nth) = threads.find(number)?;
    Some(Member { launch, thread, nth: nth as u32 })
}

/// A run that is planned: its fault, the instruction of the program, its stratum.
pub(crate) struct Planned {
    pub(crate) fault: Fault,
    pub(crate) instruction: u32,
    pub(crate) stratum: Option<u32>,
}

impl SamplingFrame {
    /// The population of a selection, in strata if it is to be divided; strata without members are none.
    pub(crate) fn of(golden: &Golden, selection: Selection, stratify: Option<Stratify>) -> Self {
        let mut parts = match stratify {
            None => {
                let members = Members::Census(census(golden, &selection));
                vec![Part { name: String::new(), selection, members }]
            }
            Some(Stratify::Kernel) => by_kernel(golden, &selection),
            Some(Stratify::Group) => by_group(golden, &selection),
            Some(Stratify::Threads) => by_threads(golden, &selection),
        };
        parts.retain(|part| part.members.total() > 0);
        Self { parts, stratified: stratify.is_some() }
    }

    /// The populations of several selections, which may overlap, as parts that runs are drawn from in turn; and by part the
    /// number of its selection. Those without members are none.
    pub(crate) fn of_each(golden: &Golden, selections: Vec<Selection>) -> (Self, Vec<usize>) {
        // Selections that differ in what happens to the bits have the same members.
        let mut known: Vec<(Selection, Vec<Vec<u32>>, Census)> = Vec::new();
        let (mut parts, mut numbers) = (Vec::new(), Vec::new());
        for (number, selection) in selections.into_iter().enumerate() {
            let needed = golden.launches.iter().map(|launch| least(&selection, launch)).collect();
            let census = match known.iter().find(|(of, all, _)| of.same_population(&selection) && *all == needed) {
                Some((_, _, census)) => census.clone(),
                None => {
                    let census = census(golden, &selection);
                    known.push((selection.clone(), needed, census.clone()));
                    census
                }
            };
            if census.total() > 0 {
                parts.push(Part { name: number.to_string(), selection, members: Members::Census(census) });
                numbers.push(number);
            }
        }
        (Self { parts, stratified: false }, numbers)
    }

    /// Whether there is nothing to draw from.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The strata, with their sizes.
    pub(crate) fn strata(&self) -> Vec<Stratum> {
        let stratum = |part: &Part| Stratum { name: part.name.clone(), members: part.members.total() };
        self.parts.iter().map(stratum).collect()
    }

    /// The faults of runs.
    pub(crate) fn draw(&self, golden: &Golden, runs: &[RunIndex], seed: u64) -> Result<Vec<Planned>, TargetError> {
        let mut planned: Vec<Option<Planned>> = runs.iter().map(|_| None).collect();
        let part_of = |run: &RunIndex| (run.0 % self.parts.len() as u64) as usize;
        // Strata whose members are numbered by the same selection are looked up together.
        let mut known: Vec<&Selection> = Vec::new();
        for part in &self.parts {
            if !known.contains(&&part.selection) {
                known.push(&part.selection);
            }
        }
        for selection in known {
            let mut drawn: Vec<(usize, Draws, Member)> = Vec::new();
            for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| part.selection == *selection) {
                let own: Vec<usize> = (0..runs.len()).filter(|&at| part_of(&runs[at]) == number).collect();
                let total = part.members.total();
                let mut draws: Vec<Draws> = own.iter().map(|&at| Draws::new(seed, runs[at].0)).collect();
                let numbers: Vec<u64> = draws.iter_mut().filter_map(|draws| draws.below(total)).collect();
                let members = part.members.find_all(&numbers);
                drawn.extend(own.into_iter().zip(draws).zip(members).filter_map(|((a, b), c)| Some((a, b, c?))));
            }
            let members: Vec<Member> = drawn.iter().map(|(_, _, member)| *member).collect();
            let found = resolve(golden, selection, &members);
            let mut drawer = Drawer::new(golden, selection);
            for (at, mut draws, member) in drawn {
                let fault = found
                    .get(&member)
                    .and_then(|&found| Some((drawer.fault(&mut draws, member, found)?, found.instruction)));
                let stratum = self.stratified.then(|| part_of(&runs[at]) as u32);
                planned[at] = fault.map(|(fault, instruction)| Planned { fault, instruction, stratum });
            }
        }
        let lost = || TargetError::new("repeat the golden run: a drawn instruction was not found again");
        planned.into_iter().map(|planned| planned.ok_or_else(lost)).collect()
    }
}

/// A stratum for each kernel.
fn by_kernel(golden: &Golden, selection: &Selection) -> Vec<Part> {
    let census = census(golden, selection);
    let names: BTreeSet<&str> = golden.launches.iter().map(|launch| launch.program.name.as_str()).collect();
    let part = |name: &&str| {
        let mut own = Census::default();
        for (number, launch) in golden.launches.iter().enumerate() {
            own.push(if launch.program.name == **name { census.launch(number).clone() } else { Counts::default() });
        }
        Part { name: (*name).to_owned(), selection: selection.clone(), members: Members::Census(own) }
    };
    names.iter().map(part).collect()
}

/// A stratum for each instruction group.
fn by_group(golden: &Golden, selection: &Selection) -> Vec<Part> {
    let part = |&group: &Group| {
        let selection = selection.clone().within(group);
        let members = Members::Census(census(golden, &selection));
        Part { name: group.to_string(), selection, members }
    };
    Group::ALL.iter().map(part).collect()
}

/// A stratum for the threads of a kernel that execute as many instructions as each other.
fn by_threads(golden: &Golden, selection: &Selection) -> Vec<Part> {
    let census = census(golden, selection);
    let part = |((kernel, count), class): ((&str, u32), Vec<(u32, u64)>)| {
        let threads = class.into_iter().filter_map(|(launch, thread)| {
            let members = census.launch(launch as usize).view().get(thread)?;
            (members > 0).then_some(((launch, thread), u64::from(members)))
        });
        Part {
            name: format!("{kernel}: threads of {count} instructions"),
            selection: selection.clone(),
            members: Members::Threads(threads.collect()),
        }
    };
    by_count(golden).into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_find_their_members() {
        let threads = [((0, 7), 2), ((0, 9), 1), ((2, 1), 3)].into_iter().collect();
        let found: Vec<(u32, u64, u32)> =
            (0..6).filter_map(|number| find(&threads, number)).map(|at| (at.launch, at.thread, at.nth)).collect();
        assert_eq!(found, [(0, 7, 0), (0, 7, 1), (0, 9, 0), (2, 1, 0), (2, 1, 1), (2, 1, 2)]);
        assert_eq!(find(&threads, 6), None);
    }
}
