//! What each warp of a block knows of the others: vector clocks (Lamport, *CACM* 21, 1978; Mattern, 1989), with an entry for
//! every warp. Barriers and strong accesses pass knowledge on.

use std::collections::HashMap;

/// Barriers of a block.
const BARRIERS: usize = 16;

/// For each warp, up to when it is known.
type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &[u32]) {
    into.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// A barrier: what those who came know together, and what those may know who go on.
#[derive(Clone, Debug, Default)]
struct Barrier {
    coming: Option<Clock>,
    waiting: u32,
    released: Option<Clock>,
    /// The warps that are to go on by `released`.
    going: u32,
}

/// The clocks of the warps of a block.
#[derive(Debug)]
pub(super) struct BlockClocks {
    warps: Vec<Clock>,
    barriers: Vec<Barrier>,
    /// What was known where something was stored strongly last, by space and address.
    places: HashMap<(bool, u64), Clock>,
}

impl BlockClocks {
    pub(super) fn new(warps: u32) -> Self {
        let warps = warps as usize;
        let start = |warp: usize| (0..warps).map(|other| u32::from(other == warp)).collect();
        Self {
            warps: (0..warps).map(start).collect(),
            barriers: vec![Barrier::default(); BARRIERS],
            places: HashMap::new(),
        }
    }

    /// The time of a warp.
    pub(super) fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize][warp as usize]
    }

    /// Whether a warp knows of what another did at a time.
    pub(super) fn knows(&self, warp: u32, other: u32, time: u32) -> bool {
        self.warps[warp as usize][other as usize] >= time
    }

    /// A warp comes to a barrier.
    pub(super) fn arrives(&mut self, warp: u32, barrier: u32) {
        let clock = &mut self.warps[warp as usize];
        let barrier = &mut self.barriers[barrier as usize % BARRIERS];
        join(barrier.coming.get_or_insert_with(|| vec![0; clock.len()]), clock);
        barrier.waiting |= 1 << warp;
        clock[warp as usize] += 1;
    }

    /// A warp goes on behind a barrier. All that wait go on at the same time, but are told one after the other, and the first
    /// of them may already have come again.
    pub(super) fn passes(&mut self, warp: u32, barrier: u32) {
        let barrier = &mut self.barriers[barrier as usize % BARRIERS];
        if barrier.going & (1 << warp) == 0 {
            barrier.released = barrier.coming.take();
            barrier.going = std::mem::take(&mut barrier.waiting);
        }
        barrier.going &= !(1 << warp);
        if let Some(released) = &barrier.released {
            join(&mut self.warps[warp as usize], released);
        }
    }

    /// A warp makes a strong load of a place: it learns what those knew who stored there so.
    pub(super) fn learns(&mut self, warp: u32, place: (bool, u64)) {
        if let Some(known) = self.places.get(&place) {
            join(&mut self.warps[warp as usize], known);
        }
    }

    /// A warp stores strongly to a place, or updates it: it learns what those knew who did so before, and passes on what it
    /// knows.
    pub(super) fn meets(&mut self, warp: u32, place: (bool, u64)) {
        let clock = &mut self.warps[warp as usize];
        let known = self.places.entry(place).or_insert_with(|| vec![0; clock.len()]);
        join(clock, known);
        known.clone_from(clock);
    }

    /// What a warp does from now on is not yet known to those that it has just passed its knowledge on to.
    pub(super) fn ticks(&mut self, warp: u32) {
        self.warps[warp as usize][warp as usize] += 1;
    }
}

/// What was known where something was stored strongly last: for each block, up to when.
#[derive(Debug, Default)]
struct Place {
    clock: Clock,
    /// Who came last, and how often it had learned something until then.
    last: (u32, u64),
}

/// What the block that runs knows of those before it: they run in order, so that only it can learn.
#[derive(Debug, Default)]
pub(super) struct GridClocks {
    now: u32,
    known: Clock,
    /// How often a block met what another had left.
    learned: u64,
    places: HashMap<u64, Place>,
}

/// Joins clocks that may know of fewer blocks.
fn join_all(into: &mut Clock, other: &[u32]) {
    into.resize(into.len().max(other.len()), 0);
    join(into, other);
}

impl GridClocks {
    /// The next block begins.
    pub(super) fn begin(&mut self) {
        self.now = 1;
        self.known.clear();
        self.learned += 1;
    }

    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Whether the block knows of what another did at a time.
    pub(super) fn knows(&self, other: u32, time: u32) -> bool {
        self.known.get(other as usize).is_some_and(|known| *known >= time)
    }

    /// The block makes a strong load of a place.
    pub(super) fn learns(&mut self, address: u64) {
        if let Some(place) = self.places.get(&address) {
            join_all(&mut self.known, &place.clock);
            self.learned += 1;
        }
    }

    /// The block stores strongly to a place, or updates it.
    pub(super) fn meets(&mut self, block: u32, address: u64) {
        let place = self.places.entry(address).or_default();
        if place.last != (block, self.learned) {
            join_all(&mut self.known, &place.clock);
            self.learned += 1;
            join_all(&mut place.clock, &self.known);
            place.last = (block, self.learned);
        }
        let own = block as usize;
        place.clock.resize(place.clock.len().max(own + 1), 0);
        place.clock[own] = self.now;
    }

    pub(super) fn ticks(&mut self) {
        self.now += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_barrier_all_is_known_that_was_before_it() {
        let mut clocks = BlockClocks::new(3);
        let before: Vec<u32> = (0..3).map(|warp| clocks.now(warp)).collect();
        assert!(!clocks.knows(1, 0, before[0]));
        (0..3).for_each(|warp| clocks.arrives(warp, 0));
        clocks.passes(0, 0);
        let between = clocks.now(0);
        // The first comes again before the others were told that they go on.
        clocks.arrives(0, 0);
        (1..3).for_each(|warp| clocks.passes(warp, 0));
        assert!((0..3).all(|warp| (0..3).all(|other| clocks.knows(warp, other, before[other as usize]))));
        assert!(!clocks.knows(1, 0, between));
    }

    #[test]
    fn an_atomic_access_passes_on_what_was_known_before_it() {
        let mut clocks = BlockClocks::new(2);
        let time = clocks.now(0);
        clocks.meets(0, (true, 64));
        clocks.ticks(0);
        clocks.meets(1, (true, 64));
        assert!(clocks.knows(1, 0, time) && !clocks.knows(1, 0, clocks.now(0)) && !clocks.knows(0, 1, 1));
        let mut grid = GridClocks::default();
        grid.begin();
        let time = grid.now();
        grid.meets(0, 8);
        grid.ticks();
        let later = grid.now();
        grid.begin();
        assert!(!grid.knows(0, time));
        grid.meets(1, 8);
        assert!(grid.knows(0, time) && !grid.knows(0, later));
    }
}
