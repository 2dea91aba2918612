//! Decides when a block is searched for a loop that need not be executed whole.

/// Instructions after which a warp is looked at again where nothing came of it, the first time; twice as many the next.
const FIRST_PAUSE: u64 = 1024;
/// The same where something was skipped.
const SHORT_PAUSE: u64 = 64;

/// The same at most: as many instructions as fuel is given for at a time have to be counted in 32 bits.
const LONGEST_PAUSE: u64 = 1 << 30;

/// Decides when a block is searched for a loop, and which loop is tried first.
#[derive(Debug, Default)]
pub(crate) struct LoopDetector {
    /// The number of instructions of a warp after which the block is searched next.
    due: u64,
    /// Instructions from one look to the next.
    pub(super) pause: u64,
    /// The loop of which iterations were skipped last.
    pub(super) last: Option<Loop>,
    /// Instructions that may be executed beyond all fuel, in loops of which it is known when they end.
    pub(super) loops: u64,
    /// How many of these there were at hand when some were taken last.
    taken: u32,
}

/// A way to look at a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Where it begins.
    pub(super) head: u32,
    /// How many rounds are one iteration.
    pub(super) rounds: u32,
    /// Whether loads at addresses that move have to find the same each time.
    pub(super) strict: bool,
}

impl LoopDetector {
    /// Looks when a warp has issued so many instructions.
    pub(crate) fn after(due: u64, loops: u64) -> Self {
        Self { due, pause: FIRST_PAUSE, last: None, loops, taken: 0 }
    }

    /// Takes of the instructions that may be executed beyond all fuel as many as are needed, or will do until the next look but
    /// one, if there are enough with those that are left. What was left is for what comes behind the loop.
    /// `executed` is how many were executed since some were taken last.
    pub(super) fn take(&mut self, needed: u64, left: u32, executed: u32) -> Option<u32> {
        if needed > self.loops.saturating_add(left.into()) {
            return None;
        }
        let unused = self.taken.saturating_sub(executed);
        let missing = needed.saturating_sub(unused.into());
        let taken = missing.min(2 * LONGEST_PAUSE).min(self.loops).min(u64::from(u32::MAX - left)) as u32;
        self.loops -= u64::from(taken);
        self.taken = unused.saturating_add(taken);
        Some(taken)
    }

    /// So much of the fuel was used up by iterations that were executed side by side, which no lane has counted.
    pub(super) fn spend(&mut self, instructions: u32) {
        self.taken = self.taken.saturating_sub(instructions);
    }

    /// Instructions that a thread executes before it is to be looked at.
    pub(crate) fn patience(&self) -> u32 {
        u32::try_from(self.due).unwrap_or(u32::MAX)
    }

    /// Nothing can be found out yet.
    pub(super) fn postpone(&mut self, issued: u64) {
        self.due = issued.saturating_add(self.pause);
    }

    /// Somebody has looked: the next look is soon where something was skipped, and later each time where nothing was.
    pub(super) fn looked(&mut self, issued: u64, skipped: bool) {
        self.pause = if skipped { FIRST_PAUSE } else { (2 * self.pause).min(LONGEST_PAUSE) };
        self.due = issued.saturating_add(if skipped { SHORT_PAUSE } else { self.pause });
    }

    /// Whether to look at a warp that has issued so many.
    pub(crate) fn is_due(&self, issued: u64) -> bool {
        issued >= self.due
    }
}
