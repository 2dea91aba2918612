//! What an iteration of a loop reads and writes in memory, and for how many more it can do the same.

use super::progression::{FOREVER, Progression};
use crate::access::{Memories, read_one, write_one};
use crate::memory::GlobalMemory;
use crate::memory::strewn::Stride;
use isa::Space;
use std::ops::Range;

/// Iterations for which memory is looked at to see that a load finds the same, at most.
const LONGEST_LOOK: u64 = 1 << 20;

/// An access of a lane to one element, whose address grows by a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) lane: usize,
    /// Global, shared or local memory.
    pub(super) space: Space,
    /// The address in that memory, in this iteration.
    pub(super) address: u64,
    pub(super) step: u64,
    /// How many bytes beyond the address it may be; what it does there does not matter.
    pub(super) spread: u64,
    pub(super) bytes: u32,
    pub(super) act: Act,
}

/// What is stored to one place again and again, and changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Changing {
    lane: usize,
    space: Space,
    from: u64,
    to: u64,
}

impl Changing {
    /// Whether an access of one iteration finds what another has left there.
    pub(super) fn is_met(&self, access: &Touched) -> bool {
        let (from, to) = (access.address, access.address.saturating_add(access.spread + u64::from(access.bytes)));
        self.space == access.memory()
            && (self.space != Space::Local || self.lane == access.lane)
            && from < self.to
            && self.from < to
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// It loads this, and must find it again.
    Finds(u128),
    /// It loads something that does not matter.
    Reads,
    /// It stores this, which grows by a step if one is known, where something else was before.
    Writes(u128, Option<u64>),
}

impl Touched {
    /// Where it stores something that changes, if it stores to the same place each time.
    pub(super) fn changing(&self) -> Option<Changing> {
        let stores = matches!(self.act, Act::Writes(..)) && self.step == 0;
        let (from, to) = (self.address, self.address.saturating_add(self.spread + u64::from(self.bytes)));
        stores.then_some(Changing { lane: self.lane, space: self.memory(), from, to })
    }

    /// The memory that it is in: constants are in global memory.
    fn memory(&self) -> Space {
        if self.space == Space::Const { Space::Global } else { self.space }
    }

    fn at(&self, iteration: u64) -> u64 {
        self.address.wrapping_add(self.step.wrapping_mul(iteration))
    }

    /// What it stores in iterations, if that is not to one place again and again: that is stored by the iteration that is
    /// executed afterwards.
    fn stride(&self, iterations: Range<u64>) -> Option<Stride> {
        let Act::Writes(value, growth) = self.act else { return None };
        let (address, step, bytes) = (self.address, self.step as i64, self.bytes as usize);
        let stride = Stride { address, step, bytes, value, growth: growth.unwrap_or(0), iterations };
        (step != 0).then_some(stride)
    }

    /// The addresses that it comes to in the first of so many iterations: the lowest, and one past the highest.
    fn range(&self, iterations: u64) -> (i128, i128) {
        let change = i128::from(self.step as i64) * i128::from(iterations.saturating_sub(1));
        let from = i128::from(self.address);
        (from + change.min(0), from + change.max(0) + i128::from(self.bytes) + i128::from(self.spread))
    }

    /// For how many iterations, of at most so many, this load does not read what that store has written.
    pub(super) fn undisturbed(&self, store: &Self, most: u64) -> u64 {
        if self.memory() != store.memory() || (self.space == Space::Local && self.lane != store.lane) {
            return most;
        }
        let ((from, to), (first, last)) = (self.range(most), store.range(most));
        if to <= first || last <= from {
            return most;
        }
        if self.step != store.step || self.step == 0 || store.spread > 0 {
            // Half as many may do.
            return if most > 1 { self.undisturbed(store, most / 2) } else { 0 };
        }
        // Both move alike: the load comes to where the store was `n` iterations before.
        let (step, apart) = (i128::from(self.step as i64), i128::from(store.address) - i128::from(self.address));
        let reach = i128::from(self.bytes.max(store.bytes)) - 1;
        let (near, far) = ((apart - reach).min(apart + reach), (apart - reach).max(apart + reach));
        let (least, greatest) = if step > 0 { (near, far) } else { (-far, -near) };
        let first = least.max(1).div_euclid(step.abs()) + i128::from(least.max(1).rem_euclid(step.abs()) != 0);
        let disturbed = first.max(1) * step.abs() <= greatest;
        if disturbed { u64::try_from(first.max(1)).unwrap_or(most).min(most) } else { most }
    }
}

/// How long the accesses of an iteration go on as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// The first iteration in which something may be otherwise.
    pub(super) limit: u64,
    /// The first in which an access is certain to be a trap.
    pub(super) traps: u64,
    /// The first in which constants are read from beyond where they end: the loop goes on, but finds something else.
    pub(super) turns: u64,
}

impl Reach {
    pub(super) const ENDLESS: Self = Self { limit: FOREVER, traps: FOREVER, turns: FOREVER };

    /// Takes an address into account that moves within memory which can be accessed in this range.
    pub(super) fn within(&mut self, access: &Touched, range: &Range<u64>, is_trap: impl Fn(u64) -> bool) {
        let change = access.step as i64;
        if change == 0 {
            return;
        }
        let (address, bytes) = (i128::from(access.address), i128::from(access.bytes));
        let room = if change > 0 { i128::from(range.end) - bytes - address } else { address - i128::from(range.start) };
        let by = i128::from(change).abs();
        let leaves = u64::try_from(room.max(0) / by + 1).unwrap_or(FOREVER);
        if access.step.is_multiple_of(access.bytes.into()) && is_trap(access.at(leaves)) {
            self.traps = self.traps.min(leaves);
        } else if !access.step.is_multiple_of(access.bytes.into()) {
            self.limit = self.limit.min(1);
        } else {
            self.limit = self.limit.min(leaves);
        }
    }

    /// The first iteration that is not like the others.
    pub(super) fn first(self) -> u64 {
        self.leaves().min(self.turns)
    }

    /// The first iteration that may be the last.
    pub(super) fn leaves(self) -> u64 {
        self.limit.min(self.traps)
    }
}

/// The address of an access in iterations, if it is made of a register of 32 bits.
pub(super) fn narrow(address: u64, offset: u64, step: u64) -> (u64, u64) {
    let base = Progression { first: address.wrapping_sub(offset), step, bits: 32, signed: false };
    (base.change() as u64, base.wraps())
}

/// Lowers a number of iterations to those in which every load finds what it must.
pub(super) fn steady(accesses: &[Touched], memories: &mut Memories<'_>, mut iterations: u64) -> u64 {
    let stores = || accesses.iter().filter(|access| matches!(access.act, Act::Writes(..)));
    let loads = || accesses.iter().filter(|access| matches!(access.act, Act::Finds(_)));
    for load in loads() {
        for store in stores() {
            iterations = load.undisturbed(store, iterations);
        }
    }
    for load in loads() {
        if let Act::Finds(value) = load.act
            && load.step != 0
        {
            iterations = finds(load, value, memories, iterations);
        }
    }
    iterations
}

/// For how many iterations, of at most so many, a load finds a value.
fn finds(load: &Touched, value: u128, memories: &mut Memories<'_>, most: u64) -> u64 {
    let mut iteration = 1;
    for _ in 0..LONGEST_LOOK {
        if iteration >= most {
            return most;
        }
        let address = load.at(iteration);
        let zeros = if value == 0 { zeros(load, memories.global, address) } else { 0 };
        if zeros == 0 && element(memories, load, address) != Some(value) {
            return iteration;
        }
        iteration = iteration.saturating_add(zeros.max(1));
    }
    iteration.min(most)
}

/// For how many iterations a load is known to find zeros without looking at each: in a page that was never written, and
/// where there are no constants.
fn zeros(load: &Touched, memory: &GlobalMemory, address: u64) -> u64 {
    let step = load.step as i64;
    let room = match load.space {
        Space::Shared | Space::Local => return 0,
        Space::Const if memory.page_number(address).is_none() => {
            memory.allocations().without_constants(address, step > 0)
        }
        _ => match memory.blank(address) {
            Some(page) if step > 0 => page.end - address,
            Some(page) => address - page.start + 1,
            None => return 0,
        },
    };
    room.div_ceil(step.unsigned_abs())
}

/// What memory holds for an access.
pub(super) fn element(memories: &mut Memories<'_>, access: &Touched, address: u64) -> Option<u128> {
    let (space, lane, strayed) = (access.space, access.lane, memories.global.strayed());
    let found = match access.bytes {
        1 => read_one::<u8>(memories, space, address, lane).map(u128::from),
        2 => read_one::<u16>(memories, space, address, lane).map(u128::from),
        4 => read_one::<u32>(memories, space, address, lane).map(u128::from),
        8 => read_one::<u64>(memories, space, address, lane).map(u128::from),
        _ => read_one::<u128>(memories, space, address, lane),
    };
    memories.global.set_strayed(strayed);
    found.ok()
}

/// Does what the stores of an iteration would have done in each of so many that follow it.
pub(super) fn store_all(accesses: &[Touched], memories: &mut Memories<'_>, iterations: u64) {
    let near = memories.global.near();
    let around = [0..near.start, near.end..u64::MAX];
    let (mut at_once, mut far) = (Vec::new(), Vec::new());
    for access in accesses {
        let Some(stride) = access.stride(1..iterations + 1) else { continue };
        if access.space == Space::Global && memories.global.defers() && stride.is_aligned() {
            far.extend(around.iter().map(|range| stride.part(range)).filter(|part| !part.iterations.is_empty()));
            at_once.push((access, stride.part(&near)));
        } else {
            at_once.push((access, stride));
        }
    }
    at_once.retain(|(_, stride)| !stride.iterations.is_empty());
    let first = at_once.iter().map(|(_, stride)| stride.iterations.start).min().unwrap_or(0);
    let end = at_once.iter().map(|(_, stride)| stride.iterations.end).max().unwrap_or(0);
    for iteration in first..end {
        for (access, stride) in at_once.iter().filter(|(_, stride)| stride.iterations.contains(&iteration)) {
            put(memories, access, stride.address_in(iteration), stride.value_in(iteration));
        }
    }
    if !far.is_empty() {
        memories.global.strew(far);
    }
}

fn put(memories: &mut Memories<'_>, access: &Touched, address: u64, value: u128) {
    let (space, lane, strayed) = (access.space, access.lane, memories.global.strayed());
    // Addresses were found to be good for as long.
    let _ = match access.bytes {
        1 => write_one(memories, space, address, lane, value as u8),
        2 => write_one(memories, space, address, lane, value as u16),
        4 => write_one(memories, space, address, lane, value as u32),
        8 => write_one(memories, space, address, lane, value as u64),
        _ => write_one(memories, space, address, lane, value),
    };
    memories.global.set_strayed(strayed);
}

/// How many of the accesses to global memory of so many iterations that follow lie outside every allocation.
pub(super) fn strays(accesses: &[Touched], memory: &GlobalMemory, iterations: u64) -> u64 {
    let mapped = |access: &&Touched| match access.space {
        Space::Global => true,
        // Those that are not mapped do not count.
        Space::Const => memory.page_number(access.address).is_some(),
        _ => false,
    };
    accesses.iter().filter(mapped).map(|access| iterations - within_allocations(access, memory, iterations)).sum()
}

fn within_allocations(access: &Touched, memory: &GlobalMemory, iterations: u64) -> u64 {
    let (change, bytes) = (i128::from(access.step as i64), i128::from(access.bytes));
    let address = i128::from(access.address);
    let within = |(start, size): (u64, u64)| {
        // The iterations 1 to n in which start <= address + i * change and address + i * change + bytes <= start + size.
        let (low, high) = (i128::from(start) - address, i128::from(start) + i128::from(size) - bytes - address);
        if high < low {
            return 0;
        }
        if change == 0 {
            return if low <= 0 && 0 <= high { iterations } else { 0 };
        }
        let (low, high) = if change > 0 { (low, high) } else { (-high, -low) };
        let by = change.abs();
        let first = (low + by - 1).div_euclid(by).max(1);
        let last = high.div_euclid(by).min(i128::from(iterations));
        u64::try_from(last - first + 1).unwrap_or(0)
    };
    memory.allocations().iter().map(within).sum()
}
