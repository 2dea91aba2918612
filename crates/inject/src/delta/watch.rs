//! The hook of the block with the fault: it makes the fault happen, and looks at every checkpoint whether anything of
//! it is left.

use crate::index::{Checkpoints, Index, Track};
use simt::memory::{Pages, Version};
use simt::{Hook, InstructionContext, Interest, RoundContext};
use strike::Hit;

/// A fault and the golden checkpoints of its block.
pub(super) struct Watch<'a, 'h> {
    hit: &'a mut Hit<'h>,
    index: &'a Index,
    checkpoints: Option<&'a Checkpoints>,
    track: Track,
    /// Before the block.
    version: Version,
    agreed: Option<u64>,
}

impl<'a, 'h> Watch<'a, 'h> {
    pub(super) fn new(
        hit: &'a mut Hit<'h>,
        index: &'a Index,
        checkpoints: Option<&'a Checkpoints>,
        version: Version,
    ) -> Self {
        Self { hit, index, checkpoints, track: Track::default(), version, agreed: None }
    }

    /// Begins where the thread has executed so many instructions.
    pub(super) fn begin_at(&mut self, executed: u64) {
        self.hit.begin_at(executed);
    }

    /// If the run was stopped because it agrees with the golden run: that one's accesses outside every allocation, in
    /// this block up to there.
    pub(super) fn agreed(&self) -> Option<u64> {
        self.agreed
    }
}

impl Hook for Watch<'_, '_> {
    fn wants(&self, warp: u32) -> bool {
        self.hit.wants(warp)
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        self.hit.before(context)
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        self.hit.after(context)
    }

    fn between(&mut self, context: RoundContext<'_>) -> Interest {
        let Some(checkpoints) = self.checkpoints.filter(|_| self.hit.is_over()) else { return Interest::Stay };
        let Some(at) = checkpoints.at_round(context.round) else { return Interest::Stay };
        let before = |page| self.index.page(page, self.version);
        if !checkpoints.agrees(at, context.block, context.memory, &mut self.track, before) {
            return Interest::Stay;
        }
        self.agreed = Some(checkpoints.strayed(at));
        Interest::Stop
    }
}
