//! Which flips of an address trap: accesses to global memory whose base register a flip would send where nothing is mapped.
//!
//! Threads are looked at in groups that take the same path, so that the n-th access of each is the same instruction. A bit
//! counts for a group if its flip traps in all of its threads: what is said of a group holds for every one of them.

use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use facts::{Space, Width};
use simt::memory::{Allocations, GlobalMemory};
use simt::program::Program;
use simt::registers::{LANES, Slot, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::ops::Range;

/// An access to global memory whose address a register of 64 bits and a constant make.
#[derive(Clone, Copy, Debug)]
pub struct BasedAccess {
    /// The number of the register in its function.
    pub register: u32,
    /// The bits of the register whose flip makes the address misaligned.
    pub misaligned: u64,
    slot: Slot,
    offset: i64,
    bytes: u64,
}

/// By group, the flips that trap.
#[derive(Clone, Debug, Default)]
pub struct AddressTraps {
    /// By group, for each access in the order of the path, the bits of the base whose flip leaves all that is mapped.
    unmapped: Vec<Vec<u64>>,
    /// How many masks there are, and how many there may be.
    masks: (usize, usize),
}

impl BasedAccess {
    /// The access of each instruction of a program, where it is such a one.
    #[must_use]
    pub fn of(program: &Program) -> Vec<Option<Self>> {
        let of = |number: u32| {
            let access = program.facts(number)?.access.filter(|access| access.space == Space::Global)?;
            let (register, offset) = access.at?;
            let slot = program.slot(number, register?).filter(|slot| slot.width == Width::B64)?;
            let bytes = u64::from(access.bytes());
            // Golden addresses are aligned to the whole access, vectors too.
            let misaligned = if bytes.is_power_of_two() { bytes - 1 } else { 0 };
            Some(Self { register: register?.0, misaligned, slot, offset, bytes })
        };
        (0..program.instructions.len() as u32).map(of).collect()
    }

    /// The bits among `candidates` whose flip in the base leaves what is mapped; `hull` is a range outside of which nothing is.
    fn unmapped(&self, base: u64, candidates: u64, allocations: &Allocations, hull: &Range<u64>) -> u64 {
        let traps = |bit: &u32| {
            let from = (base ^ 1 << bit).wrapping_add_signed(self.offset);
            if !hull.contains(&from) {
                return true;
            }
            let end = from.checked_add(self.bytes);
            allocations.accessible_around(from).is_none_or(|around| end.is_none_or(|end| end > around.end))
        };
        let bits = (0..u64::BITS).filter(|bit| candidates >> bit & 1 == 1);
        bits.filter(traps).fold(0, |mask, bit| mask | 1 << bit)
    }
}

impl AddressTraps {
    /// For this number of groups, with at most this number of accesses on all their paths; behind them nothing is said to trap.
    #[must_use]
    pub fn new(groups: usize, most: usize) -> Self {
        Self { unmapped: vec![Vec::new(); groups], masks: (0, most) }
    }

    /// Adds the threads of a launch. `group_of` has the group of each thread, linear in the launch; those behind its end, and
    /// those whose group is `u32::MAX`, are left out.
    pub fn add(&mut self, golden: &Golden, launch: &GoldenLaunch, group_of: &[u32]) {
        let size = golden.threads_per_block(launch);
        let accesses = BasedAccess::of(&launch.program);
        let mut watching = Watching { traps: self, accesses, group_of, size, first: 0, seen: Vec::new(), hull: None };
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
        golden.rerun(launch, &mut memory, &mut executor, &mut watching, |watching, block, when| {
            if when == When::Before {
                watching.first = block as usize * size;
                watching.seen = vec![[0; LANES]; size.div_ceil(LANES)];
                watching.hull = None;
            }
            true
        });
    }

    /// The bits of the base of the n-th access of a group whose flip leaves what is mapped.
    #[must_use]
    pub fn unmapped(&self, group: usize, nth: usize) -> u64 {
        self.unmapped.get(group).and_then(|masks| masks.get(nth)).copied().unwrap_or_default()
    }

    /// Whether there were more accesses than it may hold.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.masks.0 >= self.masks.1
    }

    fn note(&mut self, group: u32, nth: u32, mask: impl FnOnce(u64) -> u64) {
        let Some(masks) = self.unmapped.get_mut(group as usize) else { return };
        let is_next = masks.len() == nth as usize;
        match masks.get_mut(nth as usize) {
            Some(0) => {}
            Some(known) => *known = mask(*known),
            None if self.masks.0 < self.masks.1 && is_next => {
                masks.push(mask(u64::MAX));
                self.masks.0 += 1;
            }
            None => {}
        }
    }
}

/// Watches the accesses of a block.
struct Watching<'a> {
    traps: &'a mut AddressTraps,
    accesses: Vec<Option<BasedAccess>>,
    group_of: &'a [u32],
    size: usize,
    /// The first thread of the block.
    first: usize,
    /// By warp and lane, the accesses so far.
    seen: Vec<[u32; LANES]>,
    /// A range that holds all that is mapped.
    hull: Option<Range<u64>>,
}

impl Hook for Watching<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(access) = self.accesses[context.instruction as usize] else { return Interest::Stay };
        let allocations = context.global.allocations();
        let hull = self.hull.get_or_insert_with(|| {
            allocations.inaccessible(0, true)..u64::MAX - allocations.inaccessible(u64::MAX - 1, false)
        });
        let seen = &mut self.seen[context.warp as usize];
        for lane in lanes(context.executing) {
            let within = context.warp as usize * LANES + lane;
            let group = self.group_of.get(self.first + within).copied().filter(|_| within < self.size);
            let base = context.registers.get(access.slot, lane) as u64;
            let mask = |candidates| access.unmapped(base, candidates & !access.misaligned, allocations, hull);
            self.traps.note(group.unwrap_or(u32::MAX), seen[lane], mask);
            seen[lane] += 1;
        }
        Interest::Stay
    }
}
