//! Data races of a launch: two accesses to a byte by different warps, at least one of them a write and not both strong, of
//! which neither is ordered before the other by barriers or strong accesses (PTX ISA, §8.7). Strong are atomic accesses, and
//! loads and stores that are volatile, relaxed, acquire or release. What such a kernel computes
//! depends on who runs when, which a GPU does not say. So it does where two strong stores meet that are ordered by no more than
//! loads of what was stored, as in a volatile `x += 1` by several warps: these are found, too.
//!
//! A store of what is there already is no access here: whoever comes first, it comes to the same.

mod cell;
mod cells;
mod clocks;
mod finder;
mod found;

use crate::block::Executor;
use crate::launch::{Fuel, KernelLaunch};
use crate::memory::{GlobalMemory, HostMemoryError};
use crate::trap::RunEnd;
use finder::Finder;
pub use found::{Race, RaceBudget, Races};

impl Executor {
    /// Runs a launch and looks for races as far as a budget goes. The memory is that before the launch.
    ///
    /// # Errors
    /// If the host has no memory for what the launch touches and what is kept of it.
    pub fn races(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        budget: RaceBudget,
    ) -> Result<Races, HostMemoryError> {
        if launch.is_together() || launch.warps() > 32 {
            return Ok(Races::default());
        }
        memory.expect_shortage();
        let mut finder = Finder::new(launch, budget);
        self.prepare(launch);
        let mut is_whole = true;
        for block in 0..launch.blocks() {
            finder.begin(block as u32);
            let end = self.run_block(launch, memory, block, Fuel::Each(u32::MAX), &mut finder);
            finder.races.blocks += 1;
            finder.races.instructions += self.instructions();
            match end {
                RunEnd::Completed => {}
                // What stands behind a trap does not run in the launch either.
                RunEnd::Trapped(_) => break,
                RunEnd::Stopped | RunEnd::Waits => {
                    is_whole = false;
                    break;
                }
            }
        }
        finder.races.words = budget.words - finder.left.words;
        finder.races.is_whole = is_whole && !finder.misses;
        if finder.is_short {
            memory.fall_short();
        }
        memory.check_shortage().map(|()| finder.races)
    }
}
