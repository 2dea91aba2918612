//! Data races of a launch: two accesses to a byte by different warps, at least one of them a write and not both strong, of
//! which neither is ordered before the other by barriers or strong accesses (PTX ISA, §8.7). Strong are atomic accesses, and
//! loads and stores that are volatile, relaxed, acquire or release. What such a kernel computes
//! depends on who runs when, which a GPU does not say.
//!
//! A store of what is there already is no access here: whoever comes first, it comes to the same.

mod cell;
mod clocks;

use crate::access::{addresses, read_row};
use crate::atomic::resolve;
use crate::block::Executor;
use crate::hook::{Hook, InstructionContext, Interest};
use crate::launch::{Fuel, Interleaving, KernelLaunch};
use crate::memory::{GlobalMemory, HostMemoryError, PAGE};
use crate::program::{AccessPlan, MicroKind, Program};
use crate::trap::RunEnd;
use ::lanes::registers::lanes;
use cell::{Cell, WordAccess};
use clocks::{BlockClocks, GridClocks};
use isa::Space;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, TryReserveError};

/// Words of a page.
const WORDS: usize = PAGE / 4;
/// Pages whose accesses are kept, at most, for each of both views.
const MOST_PAGES: usize = 2048;

/// Two instructions that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// How finely warps have to take turns for it to show as on a GPU: those of a block, or of all.
    pub between: Interleaving,
    /// Where: shared or global memory.
    pub shared: bool,
    /// The instruction that came first here, an index into the program's.
    pub first: u32,
    /// The one that came after it.
    pub second: u32,
}

/// The races of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// With how often words of four bytes were accessed so.
    pub found: BTreeMap<Race, u64>,
    /// Blocks that were looked at, from the first on.
    pub blocks: u64,
}

impl Races {
    /// How finely the warps of the kernel have to take turns.
    #[must_use]
    pub fn interleaving(&self) -> Interleaving {
        self.found.keys().map(|race| race.between).max().unwrap_or_default()
    }
}

impl Executor {
    /// Runs a launch and looks for races, up to so many instructions of its threads. The memory is that before the launch.
    ///
    /// # Errors
    /// If the host has no memory for what the launch touches and what is kept of it.
    pub fn races(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        most: u64,
    ) -> Result<Races, HostMemoryError> {
        memory.expect_shortage();
        let mut finder = Finder::new(launch.program, launch.warps(), most);
        self.prepare(launch);
        for block in 0..launch.blocks() {
            if launch.is_together() || launch.warps() > 32 {
                break;
            }
            finder.begin(block as u32);
            let end = self.run_block(launch, memory, block, Fuel::Each(u32::MAX), &mut finder);
            finder.races.blocks += 1;
            if end != RunEnd::Completed {
                break;
            }
        }
        if finder.is_short {
            memory.fall_short();
        }
        memory.check_shortage().map(|()| finder.races)
    }
}

/// Looks at every access of a launch.
struct Finder {
    /// For each instruction, its micro-operations that access memory or are barriers.
    kinds: Vec<Vec<MicroKind>>,
    /// Whether the loads and stores of each instruction are strong.
    strong: Vec<bool>,
    /// Instructions that are still looked at.
    left: u64,
    warps: u32,
    block: u32,
    clocks: BlockClocks,
    grid: GridClocks,
    shared: Vec<Cell>,
    /// By page, of the block that runs and of all.
    own: HashMap<u64, Box<[Cell]>>,
    all: HashMap<u64, Box<[Cell]>>,
    /// The host had no memory for one more page.
    is_short: bool,
    races: Races,
}

/// An access of a lane to one element.
#[derive(Clone, Copy)]
struct Element {
    space: Space,
    address: u64,
    bytes: u64,
    writes: bool,
    strong: bool,
}

impl Finder {
    fn new(program: &Program, warps: u32, left: u64) -> Self {
        let mut kinds = vec![Vec::new(); program.instructions.len()];
        for micro in &program.micros {
            let kind = micro.kind;
            if matches!(
                kind,
                MicroKind::Load(_)
                    | MicroKind::Store(_)
                    | MicroKind::Atomic(_)
                    | MicroKind::Copy(_)
                    | MicroKind::Barrier(_)
            ) {
                kinds[micro.instruction as usize].push(kind);
            }
        }
        Self {
            kinds,
            strong: (0..).zip(&program.instructions).map(|(at, _)| is_strong(program, at)).collect(),
            left,
            warps,
            block: 0,
            clocks: BlockClocks::new(warps),
            grid: GridClocks::default(),
            shared: Vec::new(),
            own: HashMap::new(),
            all: HashMap::new(),
            is_short: false,
            races: Races::default(),
        }
    }

    fn begin(&mut self, block: u32) {
        self.block = block;
        self.clocks = BlockClocks::new(self.warps);
        self.grid.begin();
        self.shared.clear();
        self.own.clear();
    }

    /// Notes an access of a lane of a warp.
    fn note(&mut self, warp: u32, instruction: u32, element: Element) {
        let shared = match element.space {
            Space::Shared => true,
            Space::Global | Space::Const | Space::Generic => false,
            Space::Local | Space::Param => return,
        };
        let mut at = element.address;
        let end = element.address.saturating_add(element.bytes);
        while at < end {
            let next = (at / 4 * 4).saturating_add(4).min(end);
            let bytes = (at..next).fold(0u8, |bytes, byte| bytes | (1 << (byte % 4)));
            self.note_word(
                warp,
                shared,
                at / 4,
                WordAccess {
                    who: warp,
                    time: self.clocks.now(warp),
                    instruction,
                    bytes,
                    writes: element.writes,
                    strong: element.strong,
                },
            );
            at = next;
        }
        if element.strong {
            self.synchronises(warp, shared, &element);
        }
    }

    /// A strong access passes knowledge on.
    fn synchronises(&mut self, warp: u32, shared: bool, element: &Element) {
        let place = (shared, element.address);
        if element.writes {
            self.clocks.meets(warp, place);
            self.clocks.ticks(warp);
        } else {
            self.clocks.learns(warp, place);
        }
        match (shared, element.writes) {
            (true, _) => {}
            (false, true) => {
                self.grid.meets(self.block, element.address);
                self.grid.ticks();
            }
            (false, false) => self.grid.learns(element.address),
        }
    }

    fn note_word(&mut self, warp: u32, shared: bool, word: u64, access: WordAccess) {
        let second = access.instruction;
        let clocks = &self.clocks;
        let knows = |other, time| clocks.knows(warp, other, time);
        let cell = if shared { Ok(shared_cell(&mut self.shared, word)) } else { global_cell(&mut self.own, word) };
        let Ok(cell) = cell else {
            self.is_short = true;
            return;
        };
        if let Some(first) = cell.and_then(|cell| cell.note(access, knows)) {
            let race = Race { between: Interleaving::Warps, shared, first, second };
            *self.races.found.entry(race).or_default() += 1;
        }
        if shared {
            return;
        }
        let grid = &self.grid;
        let access = WordAccess { who: self.block, time: grid.now(), ..access };
        let Ok(cell) = global_cell(&mut self.all, word) else {
            self.is_short = true;
            return;
        };
        if let Some(first) = cell.and_then(|cell| cell.note(access, |other, time| grid.knows(other, time))) {
            let race = Race { between: Interleaving::Blocks, shared, first, second };
            *self.races.found.entry(race).or_default() += 1;
        }
    }

    /// The accesses of an instruction, as it is about to execute.
    fn accesses(&mut self, context: &mut InstructionContext<'_>, plan: &AccessPlan, kind: MicroKind) {
        // Frames are of no interest: a thread's local memory is its own.
        let at = addresses(context.registers, plan, 0);
        let updates = matches!(kind, MicroKind::Atomic(_));
        let writes = updates || matches!(kind, MicroKind::Store(_));
        let strong = updates || self.strong[context.instruction as usize];
        let elements = plan.values.len().max(1);
        for index in 0..elements {
            let slot = plan.values.get(index).copied().flatten();
            let words = slot.filter(|_| writes && !updates).map(|slot| read_row::<u128>(context.registers, slot));
            for lane in lanes(context.executing) {
                let (space, address) = resolve(plan.space, at[lane].wrapping_add(index as u64 * u64::from(plan.bytes)));
                let element = Element { space, address, bytes: plan.bytes.into(), writes, strong };
                // A flag that is set to what it is may be waited for all the same.
                if strong || !words.is_some_and(|words| holds(context, &element, words[lane])) {
                    self.note(context.warp, context.instruction, element);
                }
            }
        }
    }
}

/// Whether the loads and stores of an instruction are strong operations.
fn is_strong(program: &Program, instruction: u32) -> bool {
    let orders = ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"];
    let facts = program.facts(instruction);
    facts.is_some_and(|facts| facts.mnemonic.split('.').any(|modifier| orders.contains(&modifier)))
}

/// Whether memory holds a value already.
fn holds(context: &mut InstructionContext<'_>, element: &Element, value: u128) -> bool {
    let (value, bytes) = (value.to_le_bytes(), element.bytes as usize);
    let mut found = [0; 16];
    let known = match element.space {
        Space::Shared => {
            let from = usize::try_from(element.address).unwrap_or(usize::MAX);
            let held = context.shared.get(from..from.saturating_add(bytes));
            held.inspect(|held| found[..bytes].copy_from_slice(held)).is_some()
        }
        _ => context.global.copy_out(element.address, &mut found[..bytes]),
    };
    known && found[..bytes] == value[..bytes]
}

fn shared_cell(cells: &mut Vec<Cell>, word: u64) -> Option<&mut Cell> {
    // What lies beyond traps.
    let index = usize::try_from(word).ok().filter(|index| *index < 1 << 20)?;
    if cells.len() <= index {
        cells.resize(index + 1, Cell::NONE);
    }
    cells.get_mut(index)
}

/// The cell of a word; none beyond the pages that are kept.
fn global_cell(pages: &mut HashMap<u64, Box<[Cell]>>, word: u64) -> Result<Option<&mut Cell>, TryReserveError> {
    let (page, index) = (word / WORDS as u64, (word % WORDS as u64) as usize);
    let is_full = pages.len() >= MOST_PAGES;
    let cells = match pages.entry(page) {
        Entry::Occupied(cells) => cells.into_mut(),
        Entry::Vacant(_) if is_full => return Ok(None),
        Entry::Vacant(place) => {
            let mut cells = Vec::new();
            cells.try_reserve_exact(WORDS)?;
            cells.resize(WORDS, Cell::NONE);
            place.insert(cells.into())
        }
    };
    Ok(cells.get_mut(index))
}

impl Hook for Finder {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        if context.executing == 0 {
            return Interest::Stay;
        }
        let left = self.left.checked_sub(context.executing.count_ones().into()).filter(|_| !self.is_short);
        let Some(left) = left else { return Interest::Stop };
        self.left = left;
        let program = context.program;
        for at in 0..self.kinds[context.instruction as usize].len() {
            let kind = self.kinds[context.instruction as usize][at];
            match kind {
                MicroKind::Load(plan) | MicroKind::Store(plan) => {
                    self.accesses(&mut context, &program.accesses[plan as usize], kind);
                }
                MicroKind::Atomic(plan) => self.accesses(&mut context, &program.atomics[plan as usize].access, kind),
                MicroKind::Copy(plan) => {
                    let copy = &program.copies[plan as usize];
                    self.accesses(&mut context, &copy.from, MicroKind::Load(0));
                    self.accesses(
                        &mut context,
                        &AccessPlan { values: Vec::new(), ..copy.to.clone() },
                        MicroKind::Store(0),
                    );
                }
                MicroKind::Barrier(plan) => {
                    self.clocks.arrives(context.warp, barrier(&context, program, plan));
                }
                _ => {}
            }
        }
        Interest::Stay
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        let program = context.program;
        for kind in &self.kinds[context.instruction as usize] {
            if let MicroKind::Barrier(plan) = *kind
                && program.barriers[plan as usize].wait
            {
                self.clocks.passes(context.warp, barrier(&context, program, plan));
            }
        }
        Interest::Stay
    }
}

/// The number of the barrier that the executing lanes come to.
fn barrier(context: &InstructionContext<'_>, program: &Program, plan: u32) -> u32 {
    let row = program.barriers[plan as usize].number;
    let lane = context.executing.trailing_zeros() as usize % ::lanes::registers::LANES;
    context.registers.b32[usize::from(row)].0[lane] & 15
}
