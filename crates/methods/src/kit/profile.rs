//! The profile of a thread: every instruction that it came to, with what is needed to find it again.
//!
//! A debugger that breaks at source lines finds an instruction by its line, how often the thread came there before, and
//! how many instructions it steps from the breakpoint. All three are in a step.

use facts::Flow;
use inject::threads::{TraceStep, trace};
use inject::{Golden, GoldenLaunch};
use std::collections::BTreeSet;

use super::thread::ThreadId;

/// One instruction that a thread came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileStep {
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// Whether its guard was true.
    pub executed: bool,
    /// How often the thread had come to this instruction before: its loop iteration, from 0.
    pub iteration: u32,
    /// Instructions since the first one of its row of the line table, where a breakpoint is; none if the thread was not
    /// there before. 0 where the line is not known: then the breakpoint is at the instruction.
    pub from_line: Option<u32>,
}

/// What a thread came to, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The thread.
    pub thread: ThreadId,
    /// The instructions.
    pub steps: Vec<ProfileStep>,
}

impl Profile {
    /// The profile of a thread; without steps if there is no such thread.
    #[must_use]
    pub fn of(golden: &Golden, thread: ThreadId) -> Self {
        let Some(launch) = golden.launches().get(thread.launch as usize) else {
            return Self { thread, steps: Vec::new() };
        };
        let number = thread.cta * golden.threads_per_block(launch) as u64 + u64::from(thread.thread);
        Self { thread, steps: steps(golden, launch, number) }
    }
}

fn steps(golden: &Golden, launch: &GoldenLaunch, thread: u64) -> Vec<ProfileStep> {
    let firsts = firsts(launch);
    let mut visits = vec![0u32; firsts.len()];
    let mut last: Vec<Option<u32>> = vec![None; firsts.len()];
    let step = |(number, step): (u32, &TraceStep)| {
        let at = step.instruction as usize;
        let iteration = visits[at];
        visits[at] += 1;
        last[at] = Some(number);
        let from_line = last[firsts[at]].map(|first| number - first);
        ProfileStep { instruction: step.instruction, executed: step.executed, iteration, from_line }
    };
    (0..).zip(&trace(golden, launch, thread)).map(step).collect()
}

/// For each instruction of a program the first one of its row of the line table, where a debugger puts a breakpoint:
/// where its line begins, begins again after another, or is come to by a branch.
fn firsts(launch: &GoldenLaunch) -> Vec<usize> {
    let instructions = &launch.program.instructions;
    let mut leaders = BTreeSet::new();
    for code in &launch.program.functions {
        leaders.extend(Flow::of(&launch.program.body(code.id)).blocks.iter().map(|block| (code.id, block.start)));
    }
    let line = |at: usize| {
        let source = instructions[at].facts.as_ref().and_then(|facts| facts.source.as_ref());
        source.map(|source| (instructions[at].function, source.loc.file, source.loc.line))
    };
    let begins = |at: usize| {
        let leads = leaders.contains(&(instructions[at].function, instructions[at].pc));
        at == 0 || leads || line(at).is_none() || line(at) != line(at - 1)
    };
    let mut first = 0;
    (0..instructions.len())
        .map(|at| {
            first = if begins(at) { at } else { first };
            first
        })
        .collect()
}
