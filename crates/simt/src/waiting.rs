//! Blocks that wait for others: what they do repeats itself until memory changes.
//!
//! What a block does next depends on its registers, its shared and local memory, who waits for whom, and global memory. If all
//! of these are as they were some rounds ago, the block does the same again and again, and only others can end that. The
//! same holds of several blocks that take turns.

use crate::barrier::Barriers;
use crate::control::{CallFrame, Group};
use crate::launch::KernelLaunch;
use crate::memory::GlobalMemory;
use crate::program::MicroKind;
use crate::state::BlockState;
use crate::warp::Warp;
use ::lanes::registers::{LANES, Registers};

/// Rounds from one look to the next, and before the first.
const PACE: u32 = 4;
/// The same where a round is one instruction of each warp.
const PACE_SINGLE: u32 = 1024;
/// What is compared with is taken anew when so many times as many rounds have passed.
const LONGER: u32 = 4;

/// Looks whether what blocks do repeats itself.
#[derive(Debug)]
pub(crate) struct Vigil {
    pace: u32,
    /// In which round the blocks are compared with something later.
    due: u32,
    before: Option<Before>,
}

/// Blocks some rounds ago.
#[derive(Debug)]
struct Before {
    blocks: Vec<BlockBefore>,
    /// Bytes that they had printed.
    printed: usize,
    /// What was written in global memory when the blocks were found so again.
    memory: Option<Vec<(u32, Box<[u8]>)>>,
}

#[derive(Debug)]
struct BlockBefore {
    warps: Vec<WarpBefore>,
    shared: Vec<u8>,
    barriers: Barriers,
}

#[derive(Debug)]
struct WarpBefore {
    groups: Vec<Group>,
    frames: Vec<CallFrame>,
    live: u32,
    fair: u32,
    registers: Registers,
    local: Vec<[u32; LANES]>,
}

impl Vigil {
    /// From a round on.
    pub(crate) fn from(launch: &KernelLaunch<'_>, round: u32) -> Self {
        let pace = if launch.is_single() { PACE_SINGLE } else { PACE };
        let mut due = pace;
        while due <= round {
            due = due.saturating_mul(LONGER);
        }
        Self { pace, due, before: None }
    }

    /// Whether blocks go on for ever as they do unless memory changes, after so many rounds; they have printed so many bytes.
    pub(crate) fn is_over<'b>(
        &mut self,
        launch: &KernelLaunch<'_>,
        (memory, printed): (&mut GlobalMemory, usize),
        round: u32,
        blocks: impl Iterator<Item = &'b BlockState> + Clone,
    ) -> bool {
        if !round.is_multiple_of(self.pace) {
            return false;
        }
        if round >= self.due {
            self.due = self.due.saturating_mul(LONGER);
            self.before =
                (!sees_time(launch)).then(|| Before::of(blocks, printed)).filter(|before| !before.parts(launch));
            return false;
        }
        let Some(before) = self.before.as_mut().filter(|before| before.is_again(blocks, printed)) else { return false };
        // That a page is looked at is no change.
        memory.settle();
        match &before.memory {
            None => before.memory = Some(written(memory)),
            Some(found) if is_same(found, memory) => return true,
            Some(_) => self.before = None,
        }
        false
    }
}

/// Whether what a kernel does may depend on how much it has executed.
fn sees_time(launch: &KernelLaunch<'_>) -> bool {
    launch.program.micros.iter().any(|micro| matches!(micro.kind, MicroKind::Counter(_)))
}

fn written(memory: &GlobalMemory) -> Vec<(u32, Box<[u8]>)> {
    memory.written().map(|(page, bytes)| (page, bytes[..].into())).collect()
}

fn is_same(before: &[(u32, Box<[u8]>)], memory: &GlobalMemory) -> bool {
    let found = || memory.written();
    before.len() == found().count()
        && before.iter().zip(found()).all(|(before, (page, found))| before.0 == page && before.1[..] == found[..])
}

impl Before {
    fn of<'b>(blocks: impl Iterator<Item = &'b BlockState>, printed: usize) -> Self {
        Self { blocks: blocks.map(BlockBefore::of).collect(), printed, memory: None }
    }

    /// Whether who runs next depends on how much was executed.
    fn parts(&self, launch: &KernelLaunch<'_>) -> bool {
        launch.is_single() && self.blocks.iter().flat_map(|block| &block.warps).any(|warp| warp.groups.len() > 1)
    }

    fn is_again<'b>(&self, blocks: impl Iterator<Item = &'b BlockState> + Clone, printed: usize) -> bool {
        self.printed == printed
            && blocks.clone().count() == self.blocks.len()
            && self.blocks.iter().zip(blocks.clone()).all(|(before, block)| before.control_is(block))
            && self.blocks.iter().zip(blocks).all(|(before, block)| before.is(block))
    }
}

impl BlockBefore {
    fn of(block: &BlockState) -> Self {
        let warps = block.warps.iter().map(WarpBefore::of).collect();
        Self { warps, shared: block.shared.clone(), barriers: block.barriers }
    }

    fn control_is(&self, block: &BlockState) -> bool {
        let pairs = || self.warps.iter().zip(&block.warps);
        self.warps.len() == block.warps.len() && pairs().all(|(before, warp)| before.control_is(warp))
    }

    fn is(&self, block: &BlockState) -> bool {
        self.barriers == block.barriers
            && self.warps.iter().zip(&block.warps).all(|(before, warp)| before.is(warp))
            && self.shared == block.shared
    }
}

impl WarpBefore {
    fn of(warp: &Warp) -> Self {
        let control = &warp.control;
        Self {
            groups: control.groups.clone(),
            frames: control.frames.clone(),
            live: control.live,
            fair: control.fair,
            registers: warp.registers.clone(),
            local: warp.local.clone(),
        }
    }

    /// Frames that hold registers belong to recursive calls: they are taken for different.
    fn control_is(&self, warp: &Warp) -> bool {
        let control = &warp.control;
        (self.live, self.fair) == (control.live, control.fair)
            && self.groups == control.groups
            && self.frames.len() == control.frames.len()
            && self.frames.iter().zip(&control.frames).all(|(before, frame)| before.is_like(frame))
    }

    fn is(&self, warp: &Warp) -> bool {
        self.registers == warp.registers && self.local == warp.local
    }
}
