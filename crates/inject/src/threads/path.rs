//! What a thread writes on its path, and which of it nobody reads.

use super::trace::TraceStep;
use crate::golden::GoldenLaunch;
use crate::lanes::Touches;
use outcome::FirstUse;
use simt::Liveness;

/// A destination of an instruction that a thread executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathDestination {
    /// The step of the path, from 0; those with a false guard count.
    pub step: u32,
    /// The dynamic instruction of the thread, from 0; those with a false guard do not count.
    pub dynamic: u64,
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// Its position among the destinations of the instruction.
    pub position: u8,
    /// How many bits it has.
    pub bits: u32,
    /// That nobody reads the value, and why; a flip in it is masked. `None` where it is read, or may be.
    pub unread: Option<FirstUse>,
}

/// Finds what the threads of a kernel write.
#[derive(Debug)]
pub struct PathDestinations {
    touches: Touches,
    liveness: Option<Liveness>,
}

impl PathDestinations {
    /// For threads of the launches of one kernel.
    #[must_use]
    pub fn of(launch: &GoldenLaunch) -> Self {
        Self { touches: Touches::of(&launch.program), liveness: Liveness::of(&launch.program) }
    }

    /// What a thread of a launch of the kernel writes on a path, in its order.
    #[must_use]
    pub fn on(&self, launch: &GoldenLaunch, path: &[TraceStep]) -> Vec<PathDestination> {
        let steps: Vec<(u32, bool)> = path.iter().map(|step| (step.instruction, step.executed)).collect();
        let executed = (0..).zip(path).filter(|(_, step)| step.executed);
        let mut found = Vec::new();
        for ((dynamic, (step, at)), uses) in (0..).zip(executed).zip(self.touches.first_uses(&steps)) {
            let Some(facts) = launch.program.facts(at.instruction) else { continue };
            for (destination, first_use) in self.touches.destinations(at.instruction).iter().zip(uses) {
                let mut operands = facts.of_role(facts::Role::Destination);
                let Some(operand) = operands.find(|operand| operand.position == destination.position) else { continue };
                let read = matches!(first_use, FirstUse::Read { .. });
                let private = || self.liveness.as_ref().is_some_and(|liveness| liveness.is_private(destination.slot));
                found.push(PathDestination {
                    step,
                    dynamic,
                    instruction: at.instruction,
                    position: destination.position,
                    bits: operand.bits,
                    unread: (!read && private()).then_some(first_use),
                });
            }
        }
        found
    }
}
