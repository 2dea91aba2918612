//! Blocks that wait for others in a launch that is not cooperative.
//!
//! Blocks run one after the other, which costs least. One that is found to wait until memory changes ([`Vigil`]) is put aside,
//! and those behind it run. As many can wait as a GPU holds at once; when no more fit, or all have had their turn, those that wait
//! take turns until some end. If all repeat what they do, they hang.

use crate::block::{Executor, Round};
use crate::grid::hook_of;
use crate::hook::{Hook, NoHook};
use crate::launch::{Fuel, KernelLaunch};
use crate::memory::GlobalMemory;
use crate::trap::{RunEnd, TrapKind};
use crate::waiting::Vigil;

/// Blocks of a launch from the first on that waited, each at its place in the grid of the executor.
struct Waiting<'e> {
    grid: &'e mut Vec<Executor>,
    first: u64,
    /// Those that have not ended, in ascending order.
    blocks: Vec<u64>,
}

impl Executor {
    /// Runs the blocks of a launch from one on that was just found to wait.
    pub(crate) fn run_in_turns(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        first: u64,
        fuel: Fuel<'_>,
        (hooked, hook): (Option<u64>, &mut dyn Hook),
    ) -> RunEnd {
        let mut grid = vec![self.put_aside(launch)];
        let mut waiting = Waiting { grid: &mut grid, first, blocks: vec![first] };
        let mut end = RunEnd::Completed;
        for block in first + 1..launch.blocks() {
            if waiting.blocks.len() as u64 >= launch.resident() {
                end = waiting.take_turns(launch, memory, (hooked, &mut *hook), launch.resident() - 1);
            }
            if end != RunEnd::Completed {
                break;
            }
            end = self.run_block(launch, memory, block, fuel, hook_of(hooked, block, hook, &mut NoHook));
            waiting.grid.push(self.put_aside(launch));
            if end == RunEnd::Waits {
                waiting.blocks.push(block);
                end = RunEnd::Completed;
            } else {
                waiting.shed(block);
            }
        }
        if end == RunEnd::Completed {
            end = waiting.take_turns(launch, memory, (hooked, &mut *hook), 0);
        }
        self.grid = grid;
        end
    }

    /// Whether blocks of the launch that ran last waited for others although it is not cooperative.
    #[must_use]
    pub fn has_waited(&self, launch: &KernelLaunch<'_>) -> bool {
        !launch.is_together() && !self.grid.is_empty()
    }

    /// The block that ran, in an executor of its own; this one is ready for another.
    fn put_aside(&mut self, launch: &KernelLaunch<'_>) -> Self {
        let mut aside = Self::new(self.level);
        aside.state = std::mem::take(&mut self.state);
        self.state.prepare(launch);
        aside
    }
}

impl Waiting<'_> {
    fn of(&mut self, block: u64) -> &mut Executor {
        &mut self.grid[(block - self.first) as usize]
    }

    fn shed(&mut self, block: u64) {
        self.of(block).state.shed();
    }

    /// Lets the blocks that have not ended take turns until no more than so many are left.
    fn take_turns(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        (hooked, hook): (Option<u64>, &mut dyn Hook),
        left: u64,
    ) -> RunEnd {
        let (mut vigil, mut round) = (Vigil::from(launch, 0), 0);
        while self.blocks.len() as u64 > left {
            let (mut moved, mut stuck, mut going) = (false, None, Vec::new());
            let before = std::mem::take(&mut self.blocks);
            for &block in &before {
                match self.of(block).round(launch, memory, block, hook_of(hooked, block, hook, &mut NoHook)) {
                    Err(halt) => return halt.into(),
                    Ok(Round::Done) => {
                        self.shed(block);
                        moved = true;
                        continue;
                    }
                    Ok(Round::Moved) => moved = true,
                    Ok(Round::Stuck) => stuck = stuck.or(Some(block)),
                }
                going.push(block);
            }
            let has_ended = going.len() < before.len();
            self.blocks = going;
            let trapped = |block: u64, kind| {
                let state = &self.grid[(block - self.first) as usize].state;
                RunEnd::Trapped(state.hang(launch.program, block, kind))
            };
            if let Some(block) = stuck.filter(|_| !moved) {
                return trapped(block, TrapKind::BarrierDeadlock);
            }
            if has_ended {
                (vigil, round) = (Vigil::from(launch, 0), 0);
            }
            round += 1;
            let printed = self.blocks.iter().map(|&block| self.grid[(block - self.first) as usize].printed()).sum();
            let states = self.blocks.iter().map(|&block| &self.grid[(block - self.first) as usize].state);
            if vigil.is_over(launch, (memory, printed), round, states)
                && let Some(&block) = self.blocks.first()
            {
                return trapped(block, TrapKind::EndlessLoop);
            }
        }
        RunEnd::Completed
    }
}
