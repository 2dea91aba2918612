//! When to look whether a loop need not be executed whole.

/// Instructions after which a warp is looked at again where nothing came of it, the first time; twice as many the next.
const FIRST_PAUSE: u64 = 1024;
/// The same where something was skipped.
const SHORT_PAUSE: u64 = 64;

/// When a block is looked at next, and what is tried first then.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    /// Somebody looks when a warp has issued so many instructions.
    due: u64,
    /// Instructions from one look to the next.
    pub(super) pause: u64,
    /// The loop of which iterations were skipped last.
    pub(super) last: Option<Loop>,
    /// Instructions that may be executed beyond all fuel, in loops of which it is known when they end.
    pub(super) loops: u32,
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

impl Lookout {
    /// Looks when a warp has issued so many instructions.
    pub(crate) fn after(due: u64, loops: u32) -> Self {
        Self { due, pause: FIRST_PAUSE, last: None, loops }
    }

    /// Takes so many instructions of those that may be executed beyond all fuel; whether there are as many.
    pub(super) fn take(&mut self, instructions: u64) -> Option<u32> {
        let taken = u32::try_from(instructions).ok()?;
        self.loops = self.loops.checked_sub(taken)?;
        Some(taken)
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
        self.pause = if skipped { FIRST_PAUSE } else { self.pause.saturating_mul(2) };
        self.due = issued.saturating_add(if skipped { SHORT_PAUSE } else { self.pause });
    }

    /// Whether to look at a warp that has issued so many.
    pub(crate) fn is_due(&self, issued: u64) -> bool {
        issued >= self.due
    }
}
