//! What every tier shares: where a fault is, how long a run may take, and the observation that is made of it.

use crate::compare;
use crate::golden::{Golden, GoldenLaunch};
use crate::replay::ReplayError;
use device::{LaunchStats, ModuleError};
use facts::Source;
use fault::{Fault, Isa, Target};
use outcome::{End, Observation, OutputDiff, ProgramPoint, Tier};
use simt::{Fuel, Trap};
use strike::{FUEL_FACTOR, Injected};
use thiserror::Error;

/// What each thread of a launch may execute.
pub(crate) fn fuel<'g>(golden: &Golden, launch: &'g GoldenLaunch) -> Fuel<'g> {
    Fuel::Scaled {
        counts: launch.counts(),
        factor: FUEL_FACTOR,
        constant: golden.fuel(),
        loops: golden.loops(),
        looks_ahead: golden.looks_ahead,
    }
}

/// Why a fault could not be run.
#[derive(Debug, Error)]
pub enum InjectError {
    /// The fault names a place in the code of another instruction set.
    #[error(
        "find a place of `{found}` in a program of `{here}`: the id is of a fault in another instruction set, where the \
         same numbers mean other instructions"
    )]
    Isa {
        /// What the fault names.
        found: Isa,
        /// What the program is in.
        here: Isa,
    },
    /// The fault names a launch that does not exist.
    #[error("find launch {found} of the fault: the capsule has {count}, numbered from 0")]
    Launch {
        /// What the fault names.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// The fault names a block that does not exist.
    #[error("find block {found} of the fault: launch {launch} has {count}, numbered from 0")]
    Cta {
        /// The launch.
        launch: u32,
        /// What the fault names.
        found: u64,
        /// How many there are.
        count: u64,
    },
    /// The fault names a thread that does not exist.
    #[error("find thread {found} of the fault: a block of launch {launch} has {count}, numbered from 0")]
    Thread {
        /// The launch.
        launch: u32,
        /// What the fault names.
        found: u32,
        /// How many there are.
        count: u64,
    },
    /// The fault names an instruction that its thread does not come to.
    #[error(
        "find instruction {found} of the fault: thread {thread} of block {cta} executes {count} in launch {launch}, numbered from 0"
    )]
    Dynamic {
        /// The launch.
        launch: u32,
        /// The block.
        cta: u64,
        /// The thread.
        thread: u32,
        /// What the fault names.
        found: u64,
        /// How many there are.
        count: u32,
    },
    /// The fault names an operand that its instruction does not have.
    #[error("find {target} of the fault: `{opcode}` has no such operand; it has {there}")]
    Operand {
        /// What the fault names.
        target: Target,
        /// The instruction.
        opcode: String,
        /// The operands that it has.
        there: String,
    },
    /// The fault names bits that what it hits does not have.
    #[error("make the fault {model} with bits={bits}: the width of {place} is {width}, and bits are numbered from 0")]
    Bits {
        /// What happens to the bits.
        model: &'static str,
        /// What the fault names.
        bits: String,
        /// What is hit.
        place: String,
        /// How many bits that has.
        width: u32,
    },
    /// The blocks of the launch of the fault take turns.
    #[error(
        "look at memory within launch {launch}: its blocks take turns, as they wait for each other or race, and what memory holds at a \
         moment depends on all of them; follow the fault launch by launch instead"
    )]
    Together {
        /// The launch.
        launch: u32,
    },
    /// An event could not be replayed.
    #[error("replay event {event}")]
    Replay {
        /// The event.
        event: usize,
        /// Why not.
        #[source]
        source: ReplayError,
    },
    /// A module is missing.
    #[error(transparent)]
    Module(#[from] ModuleError),
}

/// Checks that the place a fault names exists.
///
/// # Errors
/// If its launch, block or thread does not.
pub fn locate<'g>(golden: &'g Golden, fault: &Fault) -> Result<&'g GoldenLaunch, InjectError> {
    let Fault { isa, launch, cta, thread, .. } = *fault;
    let found = golden.launches.get(launch as usize);
    let found = found.ok_or(InjectError::Launch { found: launch, count: golden.launches.len() })?;
    if isa != found.isa {
        return Err(InjectError::Isa { found: isa, here: found.isa });
    }
    let recorded = golden.recorded(found);
    if cta >= recorded.blocks() {
        return Err(InjectError::Cta { launch, found: cta, count: recorded.blocks() });
    }
    let count = recorded.threads_per_block();
    if u64::from(thread) >= count {
        return Err(InjectError::Thread { launch, found: thread, count });
    }
    Ok(found)
}

/// How far a run has come.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) outputs: Vec<OutputDiff>,
    /// Bytes that kernels printed otherwise, or not at all, or beyond what they should.
    pub(crate) printed: u64,
    /// A copy to the host differed.
    pub(crate) differs: bool,
    /// Work followed it.
    pub(crate) host_visible: bool,
    /// Executed for this run by all threads.
    pub(crate) instructions: u64,
    /// Accesses outside every allocation from the faulty launch on.
    pub(crate) strayed: u64,
    /// The thread's instructions at the end of the faulty launch.
    pub(crate) thread_instructions: u64,
    pub(crate) trap: Option<(usize, Trap)>,
}

impl Progress {
    /// Adds what a launch took; of the faulty one also what the thread with the fault executed.
    pub(crate) fn add(&mut self, ran: &LaunchStats, faulty: bool) {
        self.instructions += ran.instructions;
        self.strayed += ran.strayed;
        if faulty {
            self.thread_instructions = ran.thread_instructions;
        }
    }
}

/// The observation of a run that is over.
pub(crate) fn observe(
    golden: &Golden,
    fault: &Fault,
    injected: Injected,
    progress: Progress,
    tier: Tier,
) -> Observation {
    let after = injected.after(fault, progress.thread_instructions);
    let end = progress.trap.map_or(End::Completed, |(launch, trap)| end(golden, launch, trap, after));
    let completed = end == End::Completed;
    let mut outputs = if completed { progress.outputs } else { Vec::new() };
    outputs.extend((completed && golden.prints()).then(|| compare::of_text(golden.printed_bytes(), progress.printed)));
    Observation {
        landed: injected.landed,
        first_use: injected.first_use,
        outputs,
        end,
        host_visible: progress.host_visible || progress.differs && golden.acts_at_end.get().is_some(),
        strayed: progress.strayed,
        instructions: progress.instructions,
        tier,
        host: None,
    }
}

fn end(golden: &Golden, launch: usize, trap: Trap, after: u64) -> End {
    let launch = &golden.launches[launch];
    let program = &launch.program;
    let instruction = &program.instructions[trap.instruction as usize];
    let line = instruction.facts.as_ref().and_then(|facts| facts.source.as_ref()).map(Source::line);
    let at = ProgramPoint { kernel: program.name.clone(), pc: instruction.pc.0, line, after };
    let (function, pc) = (instruction.function.0, instruction.pc.0);
    let protection = strike::protection(golden.capsule(), golden.recorded(launch).module, function, pc);
    strike::end(&trap, at, protection)
}
