//! What an instruction of a warp works on: the lanes that execute it, their registers, and the memories that they see.

use super::local::LocalWindow;
use crate::memory::GlobalMemory;
use crate::memory::window::within;
use crate::program::AccessPlan;
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, Registers, Slot, lanes};
use isa::Width;

/// What a lane did wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneTrap {
    pub(crate) kind: TrapKind,
    pub(crate) lane: usize,
    pub(crate) address: Option<u64>,
}

impl LaneTrap {
    /// Where no address matters.
    pub(crate) fn new(kind: TrapKind, lane: usize) -> Self {
        Self { kind, lane, address: None }
    }

    pub(crate) fn at(kind: TrapKind, lane: usize, address: u64) -> Self {
        Self { kind, lane, address: Some(address) }
    }
}

pub(crate) type Addresses = [u64; LANES];

/// The memories that a warp sees.
pub(crate) struct Memories<'a> {
    pub(crate) global: &'a mut GlobalMemory,
    pub(crate) shared: &'a mut [u8],
    pub(crate) local: &'a mut Vec<[u32; LANES]>,
    /// Where the local memory of a thread lies.
    pub(crate) local_window: LocalWindow,
    pub(crate) params: &'a [u8],
}

/// The lanes of a warp that execute an instruction, and what it works on.
pub(crate) struct Executing<'a> {
    pub(crate) mask: u32,
    pub(crate) registers: &'a mut Registers,
    pub(crate) memories: Memories<'a>,
    /// The address in local memory at which the frame of the function that the lanes are in starts.
    pub(crate) frame_base: u32,
}

impl Executing<'_> {
    /// The lowest lane.
    pub(crate) fn first(&self) -> usize {
        self.mask.trailing_zeros() as usize
    }

    /// The address that each lane accesses.
    pub(crate) fn addresses(&self, plan: &AccessPlan) -> Addresses {
        addresses(self.registers, plan, self.frame_base)
    }
}

/// The address that each lane accesses.
pub(crate) fn addresses(registers: &Registers, plan: &AccessPlan, frame_base: u32) -> Addresses {
    displaced(registers, plan, displacement(plan, frame_base))
}

/// The displacement of a plan: for a variable of the function, from the start of its frame.
#[inline(always)]
pub(super) fn displacement(plan: &AccessPlan, frame_base: u32) -> u64 {
    (if plan.frame { plan.offset.wrapping_add(i64::from(frame_base)) } else { plan.offset }) as u64
}

/// The base of each lane, displaced.
pub(super) fn displaced(registers: &Registers, plan: &AccessPlan, by: u64) -> Addresses {
    match plan.base {
        None => [by; LANES],
        Some(Slot { width: Width::B64, index }) => {
            registers.b64[usize::from(index)].0.map(|base| base.wrapping_add(by))
        }
        Some(Slot { index, .. }) => registers.b32[usize::from(index)].0.map(|base| u64::from(base).wrapping_add(by)),
    }
}

/// The lanes of a mask whose addresses lie in the window that starts at `base`.
pub(crate) fn inside(at: &Addresses, mask: u32, base: u64) -> u32 {
    lanes(mask).filter(|&lane| within(at[lane], base)).fold(0, |inside, lane| inside | (1 << lane))
}
