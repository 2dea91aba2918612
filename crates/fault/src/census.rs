//! How many members of the population each thread executes, so that a uniform draw finds its thread.

/// The population, counted by thread. Threads are numbered through all launches, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// For every launch, the members executed by each of its threads, linear in the launch.
    launches: Vec<Vec<u32>>,
    /// Members before each launch.
    before: Vec<u64>,
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
    /// Adds the next launch: the members that each of its threads executed; empty for a launch that is not selected.
    pub fn push(&mut self, members: Vec<u32>) {
        self.before.push(self.total);
        self.total += members.iter().map(|&count| u64::from(count)).sum::<u64>();
        self.launches.push(members);
    }

    /// The members that each thread of a launch executed; empty for a launch that is not selected.
    #[must_use]
    pub fn launch(&self, number: usize) -> &[u32] {
        self.launches.get(number).map_or(&[], Vec::as_slice)
    }

    /// Members of the population.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The member with this number, in the order of launches, threads and time; `None` past the last.
    ///
    /// Takes time proportional to the threads of one launch; sort the numbers and use [`find_all`](Self::find_all)
    /// for many.
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
        let mut threads =
            self.launches.iter().zip(&self.before).enumerate().flat_map(|(launch, (members, &before))| {
                members.iter().enumerate().scan(before, move |start, (thread, &count)| {
                    let from = *start;
                    *start += u64::from(count);
                    Some((launch as u32, thread as u64, from, *start))
                })
            });
        let mut current = threads.next();
        for at in order {
            while let Some((launch, thread, from, to)) = current {
                if numbers[at] < to {
                    found[at] = Some(Member { launch, thread, nth: (numbers[at] - from) as u32 });
                    break;
                }
                current = threads.next();
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn census(launches: &[Vec<u32>]) -> Census {
        let mut census = Census::default();
        launches.iter().for_each(|launch| census.push(launch.clone()));
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
