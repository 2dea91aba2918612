//! The state of a warp: what its lanes hold, and where they are.

use crate::control::Control;
use ::lanes::registers::{LANES, Registers};

/// A warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// Its index in the block.
    pub(crate) index: u32,
    pub(crate) registers: Registers,
    /// Local memory by words: word `w` of every lane.
    pub(crate) local: Vec<[u32; LANES]>,
    pub(crate) control: Control,
}

impl Warp {
    /// Starts at `entry` with the threads in `mask`, whose local memory is zero.
    pub(crate) fn start(&mut self, entry: u32, mask: u32) {
        self.local.fill([0; LANES]);
        self.control.start(entry, mask);
    }

    /// Becomes a copy of another, in the memory that it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.index = other.index;
        self.registers.copy_from(&other.registers);
        self.local.clone_from(&other.local);
        self.control.copy_from(&other.control);
    }
}
