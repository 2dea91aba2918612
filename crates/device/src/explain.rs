//! More about what a program did wrong, for who asks: the thread as CUDA names it, the instruction, the access.

use crate::error::TrapReport;
use capsule::Launch;
use facts::{Effect, Facts, Space};
use simt::Assertion;

/// More about a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapDetail {
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
    /// The instruction as it is written.
    pub instruction: String,
    /// What it does in memory, if it does.
    pub access: Option<MemoryAccess>,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// What it does: "read", "write", "update".
    pub verb: &'static str,
    /// How many bytes.
    pub bytes: u32,
    /// Where, as the instruction has it: "global", "shared", nothing for a generic address.
    pub space: &'static str,
}

impl TrapDetail {
    /// More about a trap at an instruction of which these facts are known, and which is written so.
    pub(crate) fn new(facts: Option<&Facts>, instruction: String, launch: &Launch, report: &TrapReport) -> Self {
        Self {
            block: coordinates(report.trap.block, launch.grid),
            thread: coordinates(report.trap.thread.into(), launch.block),
            instruction,
            access: facts.and_then(|facts| facts.access.as_ref()).map(MemoryAccess::of),
        }
    }
}

impl MemoryAccess {
    fn of(access: &facts::Access) -> Self {
        let verb = match access.effect {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Update => "update",
        };
        let space = if access.space == Space::Generic { "" } else { access.space.word() };
        Self { verb, bytes: access.bytes(), space }
    }
}

/// The place of a linear index in these extents.
#[must_use]
pub fn coordinates(index: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x).max(1), u64::from(y).max(1));
    [index % x, index / x % y, index / x / y].map(|place| place as u32)
}

/// What CUDA writes to standard error of a failed assertion.
pub(crate) fn complaint(assertion: &Assertion, launch: &Launch) -> Vec<u8> {
    let Assertion { block, thread, expression, file, line, function } = assertion;
    let [file, function, expression] = [file, function, expression].map(|text| String::from_utf8_lossy(text));
    let place = |[x, y, z]: [u32; 3]| format!("[{x},{y},{z}]");
    let (block, thread) = (coordinates(*block, launch.grid), coordinates((*thread).into(), launch.block));
    let (block, thread) = (place(block), place(thread));
    format!("{file}:{line}: {function}: block: {block}, thread: {thread} Assertion `{expression}` failed.\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_x_first() {
        assert_eq!(coordinates(0, [4, 3, 2]), [0, 0, 0]);
        assert_eq!(coordinates(17, [4, 3, 2]), [1, 1, 1]);
    }
}
