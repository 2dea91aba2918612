//! How many members of the population each thread executes, so that a uniform draw finds its thread.

use counts::{Counts, SEGMENT};

/// The population, counted by thread. Threads are numbered through all launches, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// For every launch, the members executed by each of its threads, linear in the launch.
    launches: Vec<Counts<u32>>,
    total: u64,
}

/// One member: a dynamic instruction of the population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The launch.
    pub launch: u32,
    /// The thread, linear in the launch.
    pub thread: u64,
    /// How many members the thread executed before.
    pub nth: u32,
}

impl Census {
    /// Adds the next launch: the members that each of its threads executed; none for a launch that is not selected.
    pub fn push(&mut self, members: Counts<u32>) {
        self.total += members.view().total();
        self.launches.push(members);
    }

    /// The members that each thread of a launch executed; none for a launch that is not selected.
    ///
    /// # Panics
    /// If there is no such launch.
    #[must_use]
    pub fn launch(&self, number: usize) -> &Counts<u32> {
        &self.launches[number]
    }

    /// Members of the population.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The member with this number, in the order of launches, threads and time; `None` past the last.
    ///
    /// Walks over the threads; [`find_all`](Self::find_all) does so once for many numbers.
    #[must_use]
    pub fn find(&self, number: u64) -> Option<Member> {
        self.find_all(&[number]).pop().flatten()
    }

    /// As [`find`](Self::find) for many numbers, in one pass over the threads.
    #[must_use]
    pub fn find_all(&self, numbers: &[u64]) -> Vec<Option<Member>> {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|&at| numbers[at]);
        let mut found = vec![None; numbers.len()];
        let (mut wanted, mut end) = (order.into_iter().peekable(), 0);
        for segment in self.segments() {
            let start = end;
            end += segment.total;
            while let Some(at) = wanted.next_if(|&at| numbers[at] < end) {
                found[at] = segment.find(numbers[at] - start);
            }
        }
        found
    }

    fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        (0..).zip(&self.launches).flat_map(|(launch, members)| {
            let totals = members.view().totals();
            let segments = (0..).step_by(SEGMENT).zip(members.view().segments());
            segments.map(move |(first, (which, members))| Segment {
                launch,
                first,
                members,
                total: totals[which as usize],
            })
        })
    }
}

/// Some neighbouring threads of a launch.
struct Segment<'c> {
    launch: u32,
    /// The first of them.
    first: u64,
    /// The members that each thread executed.
    members: &'c [u32],
    /// The members that all threads executed.
    total: u64,
}

impl Segment<'_> {
    /// The member with this number in the segment.
    fn find(&self, number: u64) -> Option<Member> {
        let mut before = 0;
        for (thread, &count) in (self.first..).zip(self.members) {
            if number - before < u64::from(count) {
                return Some(Member { launch: self.launch, thread, nth: (number - before) as u32 });
            }
            before += u64::from(count);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn census(launches: &[Vec<u32>]) -> Census {
        let mut census = Census::default();
        launches.iter().for_each(|launch| census.push(launch.iter().copied().collect()));
        census
    }

    proptest! {
        #[test]
        fn every_number_finds_its_own_member(launches in prop::collection::vec(prop::collection::vec(0u32..4, 0..5), 0..4)) {
            let census = census(&launches);
            let mut all = Vec::new();
            for (launch, threads) in launches.iter().enumerate() {
                for (thread, &count) in threads.iter().enumerate() {
                    all.extend((0..count).map(|nth| Some(Member { launch: launch as u32, thread: thread as u64, nth })));
                }
            }
            prop_assert_eq!(census.total(), all.len() as u64);
            let numbers: Vec<u64> = (0..census.total()).rev().collect();
            all.reverse();
            prop_assert_eq!(census.find_all(&numbers), all);
            prop_assert_eq!(census.find(census.total()), None);
        }
    }
}
