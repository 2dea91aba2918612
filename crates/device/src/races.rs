//! Which kernels have data races, found out at the first launch of each in every shape: they run with their warps interleaved.

use crate::launch::runnable;
use capsule::{Launch, ModuleId};
use simt::memory::{GlobalMemory, History, HostMemoryError, Pages, Version};
use simt::{Executor, Interleaving, Program, Races};
use std::collections::{BTreeMap, HashMap};
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
///
/// # Errors
/// If the host has no memory to look.
fn races_of(
    executor: &mut Executor,
    launch: &Launch,
    program: &Program,
    memory: (&Arc<dyn Pages>, Version),
) -> Result<Vec<KernelRace>, HostMemoryError> {
    let mut scratch = GlobalMemory::new();
    scratch.prepare(&**memory.0, memory.1)?;
    scratch.reset(memory.0, memory.1);
    let runnable = runnable(launch, program);
    let Races { found, blocks } = executor.races(&runnable, &mut scratch, MOST_INSTRUCTIONS)?;
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
    Ok(found.into_iter().map(named).collect())
}

/// Launches of a kernel in one shape whose arguments differ, of which each is looked at; others are taken for as racy as the
/// raciest of these.
const MOST_ARGUMENTS: usize = 8;

/// The shape of a launch of a kernel.
type Shape = (ModuleId, String, [u32; 3], [u32; 3]);

/// What was found of the launches of one shape.
#[derive(Debug, Default)]
struct Looked {
    by_arguments: HashMap<Vec<u8>, Interleaving>,
    most: Interleaving,
}

/// Watches over launches in their order, whether an application makes them or a recording repeats them: what is found of a launch
/// depends on those before it alone.
#[derive(Debug, Default)]
pub struct RaceWatch {
    /// Nothing is looked at where others have looked: these kernels race.
    known: Option<Interleavings>,
    /// How finely the others are interleaved then.
    others: Interleaving,
    shapes: HashMap<Shape, Looked>,
    races: Vec<KernelRace>,
    seconds: f64,
}

impl RaceWatch {
    /// Believes that these kernels race, and no others.
    #[must_use]
    pub fn knowing(interleaved: Interleavings) -> Self {
        Self { known: Some(interleaved), ..Self::default() }
    }

    /// Looks at nothing: all kernels are interleaved so.
    #[must_use]
    pub fn always(interleaving: Interleaving) -> Self {
        Self { known: Some(Interleavings::new()), others: interleaving, ..Self::default() }
    }

    /// How finely the warps of a launch take turns, which is about to run in this memory.
    ///
    /// # Errors
    /// If the host has no memory to look.
    pub fn look(
        &mut self,
        executor: &mut Executor,
        launch: &Launch,
        program: &Program,
        memory: &mut GlobalMemory,
    ) -> Result<Interleaving, HostMemoryError> {
        if let Some(known) = &self.known {
            return Ok(known.get(&program.name).copied().unwrap_or(self.others));
        }
        let shape = (launch.module, launch.kernel.clone(), launch.grid, launch.block);
        let looked = self.shapes.entry(shape).or_default();
        if let Some(found) = looked.by_arguments.get(&launch.params) {
            return Ok(*found);
        }
        if looked.by_arguments.len() >= MOST_ARGUMENTS {
            return Ok(looked.most);
        }
        #[expect(clippy::disallowed_methods, reason = "how long it takes is reported, never used")]
        let started = std::time::Instant::now();
        let pages: Arc<dyn Pages> = Arc::new(History::snapshot(memory));
        let races = races_of(executor, launch, program, (&pages, Version::before(0)))?;
        let found = races.iter().map(|race| race.between).max().unwrap_or_default();
        looked.by_arguments.insert(launch.params.clone(), found);
        looked.most = looked.most.max(found);
        self.seconds += started.elapsed().as_secs_f64();
        for race in races {
            if !self.races.iter().any(|other| other.is_at(&race)) {
                self.races.push(race);
            }
        }
        Ok(found)
    }

    /// The races that were found, each pair of instructions once.
    #[must_use]
    pub fn races(&self) -> &[KernelRace] {
        &self.races
    }

    /// How long it took to look.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl KernelRace {
    /// Whether another is of the same instructions.
    fn is_at(&self, other: &Self) -> bool {
        let key = |race: &Self| (race.between, race.shared, race.instructions);
        self.kernel == other.kernel && key(self) == key(other)
    }
}
