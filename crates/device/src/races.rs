//! Which kernels have data races, found out at the first launch of each in every shape: they run with their warps interleaved.

use crate::device::runnable;
use capsule::{Launch, ModuleId};
use simt::memory::{GlobalMemory, History, Pages, Version};
use simt::{Executor, Interleaving, Program, Races};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Instructions of a launch, by all its threads, after which no further block is looked at.
const MOST_INSTRUCTIONS: u64 = 20_000_000;

/// Kernels that run with their warps interleaved, by name, and how finely.
pub type Interleavings = BTreeMap<String, Interleaving>;

/// A data race of a kernel, in words of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRace {
    /// The kernel.
    pub kernel: String,
    /// Between the warps of a block, or those of all blocks.
    pub between: Interleaving,
    /// Whether it is in shared memory; else in global memory.
    pub shared: bool,
    /// The source lines of both accesses, where they are known.
    pub lines: [Option<u32>; 2],
    /// The instructions, as indices into the kernel's.
    pub instructions: [u32; 2],
    /// How often words of four bytes were accessed so.
    pub words: u64,
    /// Blocks of the launch that were looked at.
    pub blocks: u64,
}

impl fmt::Display for KernelRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = if self.between == Interleaving::Blocks { "blocks" } else { "warps of a block" };
        let memory = if self.shared { "shared" } else { "global" };
        let place = |at: usize| match self.lines[at] {
            Some(line) => format!("line {line}"),
            None => format!("instruction {}", self.instructions[at]),
        };
        let Self { kernel, words, .. } = self;
        write!(f, "`{kernel}`: {who} race in {memory} memory at {} and {} ({words} words)", place(0), place(1))
    }
}

/// The races of a launch whose memory a source of pages holds at a version.
#[must_use]
pub fn races_of(
    executor: &mut Executor,
    launch: &Launch,
    program: &Program,
    memory: (&Arc<dyn Pages>, Version),
) -> Vec<KernelRace> {
    let mut scratch = GlobalMemory::new();
    scratch.reset(memory.0, memory.1);
    let runnable = runnable(launch, program);
    let Races { found, blocks } = executor.races(&runnable, &mut scratch, MOST_INSTRUCTIONS);
    let line = |at: u32| program.facts(at).and_then(|facts| facts.source.as_ref()).map(|source| source.loc.line);
    let named = |(race, words): (simt::Race, u64)| KernelRace {
        kernel: program.name.clone(),
        between: race.between,
        shared: race.shared,
        lines: [line(race.first), line(race.second)],
        instructions: [race.first, race.second],
        words,
        blocks,
    };
    found.into_iter().map(named).collect()
}

/// How finely the kernels have to be interleaved that race.
#[must_use]
pub fn interleavings(races: &[KernelRace]) -> Interleavings {
    let mut found = Interleavings::new();
    for race in races {
        let finest = found.entry(race.kernel.clone()).or_default();
        *finest = race.between.max(*finest);
    }
    found
}

/// The shape of a launch of a kernel.
type Shape = (ModuleId, String, [u32; 3], [u32; 3]);

/// Watches over the launches of a device.
#[derive(Debug, Default)]
pub(crate) struct RaceWatch {
    /// The launches that were looked at; none if others have looked.
    checked: Option<HashSet<Shape>>,
    interleaved: Interleavings,
}

impl RaceWatch {
    /// Looks at every launch of a new shape.
    pub(crate) fn looking() -> Self {
        Self { checked: Some(HashSet::new()), interleaved: Interleavings::new() }
    }

    /// Believes that these kernels race, and no others.
    pub(crate) fn knowing(interleaved: Interleavings) -> Self {
        Self { checked: None, interleaved }
    }

    /// The races of a launch, if it is the first of its shape and its kernel is not known to race.
    pub(crate) fn look(
        &mut self,
        executor: &mut Executor,
        launch: &Launch,
        program: &Program,
        memory: &mut GlobalMemory,
    ) -> Vec<KernelRace> {
        let shape = (launch.module, launch.kernel.clone(), launch.grid, launch.block);
        let new = self.checked.as_mut().is_some_and(|checked| checked.insert(shape));
        if !new || self.interleaved.contains_key(&program.name) {
            return Vec::new();
        }
        let mut history = History::default();
        history.commit(memory, 0);
        let pages: Arc<dyn Pages> = Arc::new(history);
        let races = races_of(executor, launch, program, (&pages, Version::before(0)));
        self.interleaved.extend(interleavings(&races));
        races
    }

    /// How finely the warps of a kernel take turns.
    pub(crate) fn interleaving(&self, kernel: &str) -> Interleaving {
        self.interleaved.get(kernel).copied().unwrap_or_default()
    }
}
