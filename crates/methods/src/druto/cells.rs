//! The same number of faults in each of several cells: static instructions, or threads.
//!
//! A fault hits one bit of a destination of a dynamic instruction, drawn uniformly from those of its cell. They are numbered
//! in the order in which the golden run executes them, which is always the same.

use campaign::{LabelColumn, Planner, RunIndex, SelectionWords, Site, TargetError};
use fault::{Fault, ModelKind, Scope, Selection, draw};
use inject::site::LABELS;
use inject::{CapsuleTarget, Golden, GoldenLaunch, When};
use simt::memory::GlobalMemory;
use simt::registers::{LANES, lanes};
use simt::{Executor, Hook, InstructionContext, Interest, LevelName};
use stats::Draws;
use std::collections::BTreeMap;

/// No cell.
const NONE: u32 = u32::MAX;
/// The stream of draws of the places, unlike those of other campaigns with the seed.
const STREAM: u64 = 0x6365_6c6c_7300_0000;

/// The cells of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    /// A cell for each static instruction, by its index in the program.
    Instructions,
    /// Cells of threads, each a launch and a number in it.
    Threads(BTreeMap<(u32, u64), u32>),
}

/// Faults in cells, planned.
pub(super) struct CellFaults {
    /// The cells that have something to hit, in the order of the runs.
    pub(super) cells: Vec<u32>,
    sites: Vec<Site>,
}

impl Cells {
    /// A digest that tells these cells from others of the same kernel.
    pub(super) fn digest(&self) -> String {
        let Self::Threads(threads) = self else { return "instructions".to_owned() };
        let mut hasher = blake3::Hasher::new();
        for ((launch, thread), cell) in threads {
            hasher.update(&launch.to_le_bytes()).update(&thread.to_le_bytes()).update(&cell.to_le_bytes());
        }
        format!("threads {}", hasher.finalize().to_hex())
    }
}

impl CellFaults {
    /// Plans this number of faults in each cell of a kernel, for each of several seeds. The launches are executed twice, once to
    /// count what the cells execute and once to find what is drawn, however many seeds there are.
    ///
    /// # Errors
    /// If the cells execute no instruction that has a destination.
    pub(super) fn plan(
        capsule: &CapsuleTarget,
        kernel: &str,
        cells: &Cells,
        each: u64,
        seeds: &[u64],
    ) -> Result<Vec<Self>, TargetError> {
        let golden = capsule.golden_run();
        let totals = Locator::run(golden, kernel, cells, Vec::new()).counts;
        let filled: Vec<u32> = (0..).zip(&totals).filter(|(_, total)| **total > 0).map(|(cell, _)| cell).collect();
        if filled.is_empty() {
            return Err(TargetError::new(format!("find a site in {kernel}: no instruction there has a destination")));
        }
        let runs = filled.len() * each as usize;
        let mut wanted: Vec<Vec<(u64, usize)>> = vec![Vec::new(); totals.len()];
        let of_seed = |seed: &u64| (0..runs as u64).map(|run| Draws::new(seed ^ STREAM, run)).collect::<Vec<_>>();
        let mut draws: Vec<Draws> = seeds.iter().flat_map(of_seed).collect();
        for (number, draws) in draws.iter_mut().enumerate() {
            let cell = filled[number % runs / each as usize] as usize;
            wanted[cell].push((draws.below(totals[cell]).unwrap_or_default(), number));
        }
        // The next one stands last.
        wanted.iter_mut().for_each(|wanted| wanted.sort_unstable_by(|one, other| other.cmp(one)));
        let mut places = Locator::run(golden, kernel, cells, wanted).found;
        places.sort_unstable_by_key(|place| place.run);
        let gone = || TargetError::new("repeat the golden run: an instruction that was drawn is not executed again");
        if places.len() != draws.len() {
            return Err(gone());
        }
        let site = |(place, draws): (&Place, &mut Draws)| site(capsule, place, draws).ok_or_else(gone);
        let sites: Vec<Site> = places.iter().zip(&mut draws).map(site).collect::<Result<_, _>>()?;
        Ok(sites.chunks(runs).map(|sites| Self { cells: filled.clone(), sites: sites.to_vec() }).collect())
    }

    /// The runs of all cells.
    pub(super) fn runs(&self) -> u64 {
        self.sites.len() as u64
    }
}

/// The fault at a place.
fn site(capsule: &CapsuleTarget, place: &Place, draws: &mut Draws) -> Option<Site> {
    let launch = capsule.golden_run().launches().get(place.launch as usize)?;
    let operands = Selection::default().operands(launch.program.facts(place.instruction)?);
    let model = ModelKind::default();
    let operand = draw::operand(draws, model, &operands)?;
    let &Place { cta, thread, dynamic, .. } = place;
    let (target, model) = (operand.target, draw::model(draws, model, operand.bits)?);
    let isa = launch.isa;
    let fault = Fault { isa, launch: place.launch, cta, thread, dynamic, target, model, scope: Scope::Thread };
    capsule.label(&fault, place.instruction)
}

impl Planner for CellFaults {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, _: u64) -> Result<Vec<Site>, TargetError> {
        let site = |run: &RunIndex| {
            let gone = || TargetError::new(format!("run the fault {} of {}", run.0, self.sites.len()));
            self.sites.get(run.0 as usize).cloned().ok_or_else(gone)
        };
        runs.iter().map(site).collect()
    }
}

/// A dynamic instruction.
struct Place {
    run: usize,
    launch: u32,
    cta: u64,
    thread: u32,
    dynamic: u64,
    instruction: u32,
}

/// Counts the dynamic instructions of cells, and finds those with the wanted numbers.
struct Locator<'c> {
    cells: &'c Cells,
    launch: u32,
    cta: u64,
    /// Whether each instruction of the program has a destination.
    hit: Vec<bool>,
    /// By warp and lane of the block, the instructions that the thread executed.
    executed: Vec<[u64; LANES]>,
    /// By warp and lane of the block, the cell of the thread.
    threads: Vec<[u32; LANES]>,
    counts: Vec<u64>,
    /// By cell, descending.
    wanted: Vec<Vec<(u64, usize)>>,
    found: Vec<Place>,
}

impl<'c> Locator<'c> {
    fn run(golden: &Golden, kernel: &str, cells: &'c Cells, wanted: Vec<Vec<(u64, usize)>>) -> Self {
        let mut locator = Self {
            cells,
            launch: 0,
            cta: 0,
            hit: Vec::new(),
            executed: Vec::new(),
            threads: Vec::new(),
            counts: Vec::new(),
            wanted,
            found: Vec::new(),
        };
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(LevelName::best()));
        let launches = (0..).zip(golden.launches()).filter(|(_, launch)| launch.program.name == kernel);
        for (number, launch) in launches {
            locator.begin(golden, number, launch);
            let threads = golden.threads_per_block(launch) as u64;
            golden.rerun(launch, &mut memory, &mut executor, &mut locator, |locator, block, when| {
                if matches!(when, When::Before) {
                    locator.block(block, threads);
                }
                true
            });
        }
        locator
    }

    /// A launch begins.
    fn begin(&mut self, golden: &Golden, number: u32, launch: &GoldenLaunch) {
        self.launch = number;
        let program = &launch.program;
        let hit = |at: usize| {
            let facts = program.instructions[at].facts.as_ref();
            facts.is_some_and(|facts| !Selection::default().operands(facts).is_empty())
        };
        self.hit = (0..program.instructions.len()).map(hit).collect();
        let cells = match self.cells {
            Cells::Instructions => self.hit.len(),
            Cells::Threads(threads) => threads.values().max().map_or(0, |most| *most as usize + 1),
        };
        self.counts.resize(cells.max(self.counts.len()), 0);
        let warps = golden.threads_per_block(launch).div_ceil(LANES);
        self.executed = vec![[0; LANES]; warps];
        self.threads = vec![[NONE; LANES]; warps];
    }

    /// A block of the launch begins.
    fn block(&mut self, block: u64, size: u64) {
        self.cta = block;
        self.executed.fill([0; LANES]);
        if let Cells::Threads(threads) = self.cells {
            self.threads.fill([NONE; LANES]);
            for (&(_, thread), &cell) in threads.range((self.launch, block * size)..(self.launch, (block + 1) * size)) {
                let within = (thread - block * size) as usize;
                self.threads[within / LANES][within % LANES] = cell;
            }
        }
    }
}

impl Hook for Locator<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let (warp, instruction) = (context.warp as usize, context.instruction);
        let is_hit = self.hit[instruction as usize];
        for lane in lanes(context.executing) {
            let dynamic = self.executed[warp][lane];
            self.executed[warp][lane] += 1;
            let cell = match self.cells {
                Cells::Instructions => instruction,
                Cells::Threads(_) => self.threads[warp][lane],
            };
            if !is_hit || cell == NONE {
                continue;
            }
            let number = self.counts[cell as usize];
            self.counts[cell as usize] += 1;
            let Some(wanted) = self.wanted.get_mut(cell as usize) else { continue };
            while let Some(&(_, run)) = wanted.last().filter(|(next, _)| *next == number) {
                wanted.pop();
                let thread = (warp * LANES + lane) as u32;
                self.found.push(Place { run, launch: self.launch, cta: self.cta, thread, dynamic, instruction });
            }
        }
        Interest::Stay
    }
}
