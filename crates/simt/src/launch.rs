//! Launches: a kernel with a shape and arguments, and how much of it may execute.

use crate::program::Program;
use ::lanes::registers::LANES;
use counts::CountsView;
use serde::{Deserialize, Serialize};

/// A kernel with the shape it is launched in and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    /// What runs.
    pub program: &'a Program,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Arguments, laid out as the kernel's parameters.
    pub params: &'a [u8],
    /// Whether blocks may wait for each other.
    pub cooperative: bool,
    /// How finely its warps take turns.
    pub interleaving: Interleaving,
    /// Whether its blocks were found to wait for each other although it is not cooperative: nobody looks ahead in loops then,
    /// which other blocks may end.
    pub waits: bool,
}

/// How finely warps take turns. It cannot be told from what a program does that has no data races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleaving {
    /// A warp runs until it waits, or for 4,096 instructions; blocks run one after the other.
    #[default]
    Turns,
    /// The same with the last warp of each block first.
    Reversed,
    /// The warps of a block execute one instruction each in turn, in ascending order.
    Warps,
    /// So do the warps of all blocks, where a GPU can hold all of them at once.
    Blocks,
}

/// Blocks of the largest grid whose blocks are interleaved: 16 for each of the 132 multiprocessors of an H200, which holds up to 32
/// small ones on each.
const RESIDENT: u64 = 16 * 132;
/// Its multiprocessors, and what each of these holds at once at most.
const MULTIPROCESSORS: u64 = 132;
const BLOCKS_EACH: u32 = 32;
const WARPS_EACH: u32 = 64;

impl KernelLaunch<'_> {
    /// Blocks of the grid.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Whether its blocks must run together.
    #[must_use]
    pub fn is_together(&self) -> bool {
        let races = self.interleaving == Interleaving::Blocks && self.blocks() <= RESIDENT;
        (self.cooperative || races) && self.blocks() > 1
    }

    /// Whether a turn of a warp is one instruction.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.interleaving, Interleaving::Warps | Interleaving::Blocks)
    }

    /// How many of its blocks a GPU holds at once, as far as their threads decide.
    #[must_use]
    pub fn resident(&self) -> u64 {
        u64::from((WARPS_EACH / self.warps().max(1)).clamp(1, BLOCKS_EACH)) * MULTIPROCESSORS
    }

    /// Bytes of a block's shared memory, with those that are reserved.
    #[must_use]
    pub fn shared(&self) -> u32 {
        match self.dynamic_shared {
            0 => self.program.shared_bytes,
            dynamic => self.program.dynamic_start() + dynamic,
        }
    }

    /// Warps of a block.
    pub(crate) fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }

    /// The place of a block in the grid.
    pub(crate) fn block_at(&self, block: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid[0]), u64::from(self.grid[1])];
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }
}

/// How many instructions a thread may execute before it is stopped.
#[derive(Clone, Copy, Debug)]
pub enum Fuel<'a> {
    /// The same for every thread.
    Each(u32),
    /// For thread `t` of the launch, `counts[t] * factor + constant`.
    Scaled {
        /// What each thread executed without a fault.
        counts: CountsView<'a, u32>,
        /// Times this.
        factor: u32,
        /// Plus this.
        constant: u32,
        /// And how many more in loops of which it is known when they end.
        loops: u64,
        /// Whether loops are looked ahead in.
        looks_ahead: bool,
    },
}

/// The factor of patience: loops of a warp are searched after the instructions of its block's longest thread without a fault
/// times this, plus [`PATIENCE`].
const PATIENCE_FACTOR: u64 = 2;
/// The constant part of patience, in instructions.
const PATIENCE: u64 = 2_000;

impl Fuel<'_> {
    /// How many instructions a warp of these threads issues before it is looked at whether it is in a loop that need not be
    /// executed whole.
    pub(crate) fn patience(self, threads: std::ops::Range<u64>) -> u64 {
        match self {
            Self::Each(_) | Self::Scaled { looks_ahead: false, .. } => u64::MAX,
            Self::Scaled { counts, .. } => {
                u64::from(counts.range(threads).max().unwrap_or(0)) * PATIENCE_FACTOR + PATIENCE
            }
        }
    }

    /// How many instructions more a block may execute in loops of which it is known when they end.
    pub(crate) fn loops(self) -> u64 {
        match self {
            Self::Each(_) => 0,
            Self::Scaled { loops, .. } => loops,
        }
    }

    /// How many instructions a thread of the launch may execute.
    pub(crate) fn of(self, thread: u64) -> u32 {
        match self {
            Self::Each(fuel) => fuel,
            Self::Scaled { counts, factor, constant, .. } => {
                let count = counts.get(thread).unwrap_or(u32::MAX);
                count.saturating_mul(factor).saturating_add(constant)
            }
        }
    }
}
