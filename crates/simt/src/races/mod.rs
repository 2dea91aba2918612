//! Data races of a launch: two accesses to a byte by different warps, at least one of them a write and not both strong, of
//! which neither is ordered before the other by barriers or strong accesses (PTX ISA, §8.7). Strong are atomic accesses, and
//! loads and stores that are volatile, relaxed, acquire or release. What such a kernel computes
//! depends on who runs when, which a GPU does not say. So it does where two strong stores meet that are ordered by no more than
//! loads of what was stored, as in a volatile `x += 1` by several warps: these are found, too.
//!
//! A store of what is there already is no access here: whoever comes first, it comes to the same.

mod cell;
mod cells;
mod clocks;

use crate::access::{addresses, read_row};
use crate::atomic::resolve;
use crate::block::Executor;
use crate::hook::{Hook, InstructionContext, Interest};
use crate::launch::{Fuel, Interleaving, KernelLaunch};
use crate::memory::{GlobalMemory, HostMemoryError};
use crate::program::{AccessPlan, MbarrierPlan, MicroKind, Program};
use crate::trap::RunEnd;
use ::lanes::registers::lanes;
use cell::WordAccess;
use cells::{GlobalCells, SharedCells};
use clocks::{BlockClocks, GridClocks};
use isa::Space;
use isa::op::MbarrierOp;
use std::collections::BTreeMap;

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
    /// With how often a warp accessed a word of four bytes so.
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

    fn count(&mut self, race: Race) {
        *self.found.entry(race).or_default() += 1;
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
        let mut finder = Finder::new(launch, most);
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
    /// How strong the loads and stores of each instruction are.
    strengths: Vec<Strength>,
    /// Instructions that are still looked at.
    left: u64,
    warps: u32,
    blocks: u64,
    block: u32,
    /// What is known by barriers and all strong accesses,
    known: Clocks,
    /// and what without volatile and relaxed ones: who has loaded what another stored need not store after it.
    acquired: Clocks,
    shared: SharedCells,
    global: GlobalCells,
    /// The host had no memory for one more page.
    is_short: bool,
    races: Races,
}

/// What warps and blocks know of each other.
struct Clocks {
    warps: BlockClocks,
    blocks: GridClocks,
}

impl Clocks {
    fn new(warps: u32) -> Self {
        Self { warps: BlockClocks::new(warps), blocks: GridClocks::default() }
    }

    fn begin(&mut self, warps: u32) {
        self.warps = BlockClocks::new(warps);
        self.blocks.begin();
    }

    /// A strong access passes knowledge on.
    fn synchronises(&mut self, (block, warp): (u32, u32), (shared, address): (bool, u64), writes: bool) {
        if writes {
            self.warps.meets(warp, (shared, address));
        } else {
            self.warps.learns(warp, (shared, address));
        }
        match (shared, writes) {
            (true, _) => {}
            (false, true) => self.blocks.meets(block, address),
            (false, false) => self.blocks.learns(address),
        }
    }

    /// What follows is later.
    fn ticks(&mut self, warp: u32) {
        self.warps.ticks(warp);
        self.blocks.ticks();
    }
}

/// How strong an access is (PTX ISA, §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Weak,
    /// Volatile and relaxed.
    Strong,
    /// It acquires or releases, or is atomic.
    Acquires,
}

/// Some bytes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    shared: bool,
    word: u64,
    bytes: u8,
}

impl Word {
    /// Adds an access to that before it; if it is to another word, the one before is done.
    fn join(open: &mut Option<Self>, next: Self) -> Option<Self> {
        match open {
            Some(open) if open.word == next.word && open.shared == next.shared => {
                open.bytes |= next.bytes;
                None
            }
            _ => open.replace(next),
        }
    }
}

impl Finder {
    fn new(launch: &KernelLaunch<'_>, left: u64) -> Self {
        let (program, warps) = (launch.program, launch.warps());
        let mut kinds = vec![Vec::new(); program.instructions.len()];
        for micro in &program.micros {
            let kind = micro.kind;
            if matches!(
                kind,
                MicroKind::Load(_)
                    | MicroKind::Store(_)
                    | MicroKind::Atomic(_)
                    | MicroKind::Copy(_)
                    | MicroKind::Mbarrier(_)
                    | MicroKind::Barrier(_)
            ) {
                kinds[micro.instruction as usize].push(kind);
            }
        }
        Self {
            kinds,
            strengths: (0..).zip(&program.instructions).map(|(at, _)| strength(program, at)).collect(),
            left,
            warps,
            blocks: launch.blocks(),
            block: 0,
            known: Clocks::new(warps),
            acquired: Clocks::new(warps),
            shared: SharedCells::default(),
            global: GlobalCells::default(),
            is_short: false,
            races: Races::default(),
        }
    }

    fn begin(&mut self, block: u32) {
        self.block = block;
        self.known.begin(self.warps);
        self.acquired.begin(self.warps);
        self.shared.clear();
    }

    /// Notes an access of a warp to a word. A warp races with no other where there is one in a block, nor a block where there
    /// is one.
    fn note(&mut self, access: WordAccess, at: Word) {
        let Word { shared, word, bytes } = at;
        let second = access.instruction;
        let access = WordAccess { bytes, ..access };
        // That a strong store's value was loaded orders no other strong store behind it.
        let clocks = |other: &WordAccess| {
            if access.strong && other.strong && access.overwrites(other) { &self.acquired } else { &self.known }
        };
        let by_warps = if shared {
            self.shared.word(word)
        } else {
            let word = match self.global.word(word) {
                Ok(Some(word)) => word,
                Ok(None) => return,
                Err(_) => {
                    self.is_short = true;
                    return;
                }
            };
            let by_block = WordAccess { who: self.block, time: self.known.blocks.now(), ..access };
            if self.blocks > 1
                && let Some(first) =
                    word.blocks.note(by_block, |other| clocks(other).blocks.knows(other.who, other.time))
            {
                self.races.count(Race { between: Interleaving::Blocks, shared, first, second });
            }
            Some(word.warps_of(self.block))
        };
        if self.warps > 1
            && let Some(cell) = by_warps
            && let Some(first) = cell.note(access, |other| clocks(other).warps.knows(access.who, other.who, other.time))
        {
            self.races.count(Race { between: Interleaving::Warps, shared, first, second });
        }
    }

    /// Lanes come to a barrier object, or have waited at one: who arrives releases what it has done, and who may go on
    /// acquires it (PTX ISA, `mbarrier`). Objects are no data: accesses to them race with none.
    fn meets_at(&mut self, context: &InstructionContext<'_>, plan: &MbarrierPlan, writes: bool) {
        let passes = plan.access.values.first().copied().flatten();
        let at = addresses(context.registers, &plan.access, 0);
        for lane in lanes(context.executing) {
            let (Space::Shared, address) = resolve(plan.access.space, at[lane]) else { continue };
            if !writes && passes.is_none_or(|passes| context.registers.get(passes, lane) == 0) {
                continue;
            }
            let (who, place) = ((self.block, context.warp), (true, address));
            self.known.synchronises(who, place, writes);
            self.acquired.synchronises(who, place, writes);
        }
        if writes {
            self.known.ticks(context.warp);
            self.acquired.ticks(context.warp);
        }
    }

    /// The accesses of an instruction, as it is about to execute. What neighbouring lanes access together is one access.
    fn accesses(&mut self, context: &mut InstructionContext<'_>, plan: &AccessPlan, kind: MicroKind) {
        let InstructionContext { warp, instruction, .. } = *context;
        // Frames are of no interest: a thread's local memory is its own.
        let at = addresses(context.registers, plan, 0);
        let updates = matches!(kind, MicroKind::Atomic(_));
        let writes = updates || matches!(kind, MicroKind::Store(_));
        let strength = if updates { Strength::Acquires } else { self.strengths[instruction as usize] };
        let strong = strength > Strength::Weak;
        let bytes = u64::from(plan.bytes);
        for index in 0..plan.values.len().max(1) {
            let slot = plan.values.get(index).copied().flatten();
            // A flag that is set to what it is may be waited for all the same.
            let stored = slot.filter(|_| writes && !strong).map(|slot| read_row::<u128>(context.registers, slot));
            let mut access = WordAccess {
                who: warp,
                time: self.known.warps.now(warp),
                instruction,
                bytes: 0,
                writes,
                strong,
                updates,
            };
            let mut open = None::<Word>;
            for lane in lanes(context.executing) {
                let address = at[lane].wrapping_add(index as u64 * bytes);
                let (shared, address) = match resolve(plan.space, address) {
                    (Space::Shared, address) => (true, address),
                    (Space::Local | Space::Param, _) => continue,
                    (_, address) => (false, address),
                };
                // What is not aligned traps, and what the memory holds already is no access.
                if address % bytes != 0
                    || stored.is_some_and(|row| holds(context, (shared, address), plan.bytes, row[lane]))
                {
                    continue;
                }
                let mask = if bytes < 4 { ((1 << bytes) - 1) << (address % 4) } else { 15 };
                for word in address / 4..=(address + bytes - 1) / 4 {
                    if let Some(done) = Word::join(&mut open, Word { shared, word, bytes: mask }) {
                        self.note(access, done);
                    }
                }
                if strong {
                    open.take().into_iter().for_each(|last| self.note(access, last));
                    let (who, place) = ((self.block, warp), (shared, address));
                    self.known.synchronises(who, place, writes);
                    if strength == Strength::Acquires {
                        self.acquired.synchronises(who, place, writes);
                    }
                    if writes {
                        self.known.ticks(warp);
                        self.acquired.ticks(warp);
                    }
                    access.time = self.known.warps.now(warp);
                }
            }
            open.into_iter().for_each(|last| self.note(access, last));
        }
    }
}

/// How strong the loads and stores of an instruction are.
fn strength(program: &Program, instruction: u32) -> Strength {
    let has = |orders: &[&str]| {
        let facts = program.facts(instruction);
        facts.is_some_and(|facts| facts.mnemonic.split('.').any(|modifier| orders.contains(&modifier)))
    };
    if has(&["acquire", "release", "acq_rel"]) {
        Strength::Acquires
    } else if has(&["volatile", "relaxed", "mmio"]) {
        Strength::Strong
    } else {
        Strength::Weak
    }
}

/// Whether memory holds a value already, at an address in shared memory or not.
fn holds(context: &mut InstructionContext<'_>, (shared, address): (bool, u64), bytes: u8, value: u128) -> bool {
    let (value, bytes) = (value.to_le_bytes(), usize::from(bytes));
    let mut found = [0; 16];
    let known = if shared {
        let from = usize::try_from(address).unwrap_or(usize::MAX);
        let held = context.shared.get(from..from.saturating_add(bytes));
        held.inspect(|held| found[..bytes].copy_from_slice(held)).is_some()
    } else {
        context.global.copy_out(address, &mut found[..bytes])
    };
    known && found[..bytes] == value[..bytes]
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
                MicroKind::Mbarrier(plan) => {
                    let plan = &program.mbarriers[plan as usize];
                    if plan.op != MbarrierOp::PendingCount && !waits(plan.op) {
                        self.meets_at(&context, plan, true);
                    }
                }
                MicroKind::Barrier(plan) => {
                    let number = barrier(&context, program, plan);
                    self.known.warps.arrives(context.warp, number);
                    self.acquired.warps.arrives(context.warp, number);
                }
                _ => {}
            }
        }
        Interest::Stay
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        let program = context.program;
        for at in 0..self.kinds[context.instruction as usize].len() {
            match self.kinds[context.instruction as usize][at] {
                MicroKind::Barrier(plan) if program.barriers[plan as usize].wait => {
                    let number = barrier(&context, program, plan);
                    self.known.warps.passes(context.warp, number);
                    self.acquired.warps.passes(context.warp, number);
                }
                MicroKind::Mbarrier(plan) if waits(program.mbarriers[plan as usize].op) => {
                    self.meets_at(&context, &program.mbarriers[plan as usize], false);
                }
                _ => {}
            }
        }
        Interest::Stay
    }
}

/// Whether an instruction looks whether a phase of a barrier object is over.
fn waits(op: MbarrierOp) -> bool {
    use MbarrierOp::{TestWait, TestWaitParity, TryWait, TryWaitParity};
    matches!(op, TestWait | TryWait | TestWaitParity | TryWaitParity)
}

/// The number of the barrier that the executing lanes come to.
fn barrier(context: &InstructionContext<'_>, program: &Program, plan: u32) -> u32 {
    let row = program.barriers[plan as usize].number;
    let lane = context.executing.trailing_zeros() as usize % ::lanes::registers::LANES;
    context.registers.b32[usize::from(row)].0[lane] & 15
}
