//! Which kernels have data races, found out before each launch: they run with their warps interleaved.

use crate::launch::runnable;
use capsule::{Launch, ModuleId};
use simt::memory::{GlobalMemory, History, HostMemoryError, Pages, Version};
use simt::{Executor, Interleaving, Program, RaceBudget, Races};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// The budget of the search for races in all launches together.
const ALL: RaceBudget = RaceBudget { words: 200_000_000, instructions: 4_000_000_000 };
/// The budget for a launch with other arguments than those before it, of which there are [few](MOST_ARGUMENTS). It is there even
/// where the budget of all launches is spent.
const EACH: RaceBudget = RaceBudget { words: 20_000_000, instructions: 20_000_000 };
/// As many words is it worth to look at a launch at all, whatever it does: memory is laid out for it.
const LAUNCH_WORDS: u64 = 20_000;

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
    budget: RaceBudget,
) -> Result<(Vec<KernelRace>, Races), HostMemoryError> {
    let mut scratch = GlobalMemory::new();
    scratch.prepare(&**memory.0, memory.1)?;
    scratch.reset(memory.0, memory.1);
    let runnable = runnable(launch, program);
    let mut races = executor.races(&runnable, &mut scratch, budget)?;
    let (found, blocks) = (std::mem::take(&mut races.found), races.blocks);
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
    Ok((found.into_iter().map(named).collect(), races))
}

/// Launches of a kernel in one shape whose arguments differ, of which each is looked at although the budget is spent; others are
/// taken for as racy as the raciest of those that were looked at.
const MOST_ARGUMENTS: usize = 8;

/// The shape of a launch of a kernel.
type Shape = (ModuleId, String, [u32; 3], [u32; 3]);

/// What was found of the launches of one shape.
#[derive(Debug, Default)]
struct Looked {
    by_arguments: HashMap<Vec<u8>, Interleaving>,
    most: Interleaving,
}

/// How far data races were looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceSearch {
    /// Launches that ran.
    pub launches: u64,
    /// Those of which all was looked at, or of which it is known that they race.
    pub whole: u64,
    /// Instructions that were looked at, by all threads.
    pub instructions: u64,
}

impl RaceSearch {
    /// Whether all launches were looked at to their end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole == self.launches
    }
}

/// Watches over launches in their order, whether an application makes them or a recording repeats them: what is found of a launch
/// depends on those before it alone.
#[derive(Debug)]
pub struct RaceWatch {
    /// Nothing is looked at where others have looked: these kernels race.
    known: Option<Interleavings>,
    /// How finely the others are interleaved then.
    others: Interleaving,
    shapes: HashMap<Shape, Looked>,
    races: Vec<KernelRace>,
    /// What may still be looked at.
    left: RaceBudget,
    search: RaceSearch,
    /// The first kernel of which not all was looked at.
    first_cut: Option<String>,
    seconds: f64,
}

impl Default for RaceWatch {
    fn default() -> Self {
        Self {
            known: None,
            others: Interleaving::default(),
            shapes: HashMap::new(),
            races: Vec::new(),
            left: ALL,
            search: RaceSearch::default(),
            first_cut: None,
            seconds: 0.0,
        }
    }
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
        let before = looked.by_arguments.get(&launch.params).copied();
        self.search.launches += 1;
        if let Some(found) = before.filter(|found| *found != Interleaving::Turns) {
            self.search.whole += 1;
            return Ok(found);
        }
        let is_one_of_few = before.is_none() && looked.by_arguments.len() < MOST_ARGUMENTS;
        let budget = if is_one_of_few { self.left.or(EACH) } else { self.left };
        if budget.is_spent() {
            self.first_cut.get_or_insert_with(|| program.name.clone());
            return Ok(before.unwrap_or(looked.most));
        }
        #[expect(clippy::disallowed_methods, reason = "how long it takes is reported, never used")]
        let started = std::time::Instant::now();
        let pages: Arc<dyn Pages> = Arc::new(History::snapshot(memory));
        let (races, looked_at) = races_of(executor, launch, program, (&pages, Version::before(0)), budget)?;
        let Races { words, instructions, is_whole, blocks, .. } = looked_at;
        self.left = self.left.less(RaceBudget { words: words + LAUNCH_WORDS, instructions });
        self.search.instructions += instructions;
        let mut found = races.iter().map(|race| race.between).max().unwrap_or_default();
        self.search.whole += u64::from(is_whole || found != Interleaving::Turns);
        // Of a launch whose blocks run together nothing is looked at: they take turns in any case.
        if !is_whole && found == Interleaving::Turns && blocks > 0 {
            self.first_cut.get_or_insert_with(|| program.name.clone());
        }
        if !is_whole && !is_one_of_few {
            found = found.max(looked.most);
        }
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

    /// How far races were looked for.
    #[must_use]
    pub fn search(&self) -> RaceSearch {
        self.search
    }

    /// The first kernel of whose launches not all was looked at.
    #[must_use]
    pub fn first_unsearched(&self) -> Option<&str> {
        self.first_cut.as_deref()
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
