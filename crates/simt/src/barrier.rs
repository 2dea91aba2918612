//! The barriers of a block: who has come, and what completes them.

use isa::op::Reduction;

/// Lanes of a warp that came to a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) barrier: u32,
    pub(crate) threads: u32,
    /// Lanes of the warp without a living thread. A count of threads counts warps, so these are among them.
    pub(crate) absent: u32,
    /// Threads that complete the barrier, where the instruction says.
    pub(crate) count: Option<u32>,
    pub(crate) wait: bool,
    pub(crate) reduce: Option<Reduction>,
    /// Threads whose predicate holds.
    pub(crate) holds: u32,
}

/// The barriers of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Barriers([Barrier; 16]);

/// Who has come to a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Barrier {
    arrived: u32,
    absent: u32,
    expected: Option<u32>,
    holds: u32,
    reduce: Option<Reduction>,
}

impl Barriers {
    /// Counts an arrival.
    pub(crate) fn count(&mut self, arrival: &Arrival) {
        let barrier = &mut self.0[arrival.barrier as usize];
        barrier.arrived += arrival.threads;
        barrier.absent += arrival.absent;
        barrier.holds += arrival.holds;
        barrier.expected = barrier.expected.or(arrival.count);
        if arrival.wait {
            barrier.reduce = barrier.reduce.or(arrival.reduce);
        }
    }

    /// Ends the barriers to which all have come, of so many threads that live: their numbers and results.
    pub(crate) fn complete(&mut self, live: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let complete = move |(_, barrier): &(u32, &mut Barrier)| barrier.is_complete(live);
        (0..).zip(&mut self.0).filter(complete).map(|(number, barrier)| (number, std::mem::take(barrier).result()))
    }
}

impl Barrier {
    fn is_complete(self, live: u32) -> bool {
        let all = match self.expected {
            Some(count) => self.arrived + self.absent >= count,
            None => self.arrived >= live,
        };
        self.arrived > 0 && all
    }

    fn result(self) -> u32 {
        match self.reduce {
            Some(Reduction::Popc) => self.holds,
            Some(Reduction::And) => u32::from(self.holds == self.arrived),
            Some(_) => u32::from(self.holds > 0),
            None => 0,
        }
    }
}
