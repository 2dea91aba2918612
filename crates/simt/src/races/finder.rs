//! A hook that looks at every access of a launch.

use super::cell::WordAccess;
use super::cells::{GlobalCells, SharedCells};
use super::clocks::{BlockClocks, GridClocks};
use super::found::{Race, RaceBudget, Races};
use crate::access::{addresses, read_row};
use crate::atomic::resolve;
use crate::hook::{Hook, InstructionContext, Interest, RoundContext};
use crate::launch::{Interleaving, KernelLaunch};
use crate::program::{AccessPlan, MbarrierPlan, MicroKind, Program};
use ::lanes::registers::lanes;
use facts::MemoryOrder;
use isa::Space;
use isa::op::MbarrierOp;

/// Looks at every access of a launch.
pub(super) struct Finder {
    /// For each instruction, its micro-operations that access memory or are barriers.
    kinds: Vec<Vec<MicroKind>>,
    /// How strong the loads and stores of each instruction are.
    strengths: Vec<Strength>,
    /// For each micro-operation, how many from it on access no memory that others see.
    unseen: Vec<u16>,
    /// What is still looked at.
    pub(super) left: RaceBudget,
    warps: u32,
    blocks: u64,
    block: u32,
    /// The knowledge that barriers and all strong accesses pass on.
    known: Clocks,
    /// The knowledge that barriers and acquiring and releasing accesses pass on. It decides between two strong stores: a
    /// thread that has loaded the value of the first need not store after it.
    acquired: Clocks,
    shared: SharedCells,
    global: GlobalCells,
    /// The host had no memory for one more page.
    pub(super) is_short: bool,
    /// Accesses were left out.
    pub(super) misses: bool,
    pub(super) races: Races,
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
    pub(super) fn new(launch: &KernelLaunch<'_>, left: RaceBudget) -> Self {
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
            unseen: unseen(program),
            left,
            warps,
            blocks: launch.blocks(),
            block: 0,
            known: Clocks::new(warps),
            acquired: Clocks::new(warps),
            shared: SharedCells::default(),
            global: GlobalCells::default(),
            is_short: false,
            misses: false,
            races: Races::default(),
        }
    }

    pub(super) fn begin(&mut self, block: u32) {
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
        self.left.words = self.left.words.saturating_sub(1);
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
                Ok(None) => {
                    self.misses = true;
                    return;
                }
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

/// How strong the loads and stores of an instruction are; without a fact of their order, they are weak.
fn strength(program: &Program, instruction: u32) -> Strength {
    let access = program.facts(instruction).and_then(|facts| facts.access);
    match access.map_or(MemoryOrder::Weak, |access| access.order) {
        MemoryOrder::Weak => Strength::Weak,
        MemoryOrder::Volatile | MemoryOrder::Relaxed => Strength::Strong,
        MemoryOrder::Acquire | MemoryOrder::Release | MemoryOrder::AcqRel => Strength::Acquires,
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

/// For each micro-operation of a program, how many from it on are plain, have no guard and access no memory that others see.
fn unseen(program: &Program) -> Vec<u16> {
    let mut unseen = vec![0; program.micros.len()];
    let mut row = 0u16;
    for (at, micro) in program.micros.iter().enumerate().rev() {
        let sees = match micro.kind {
            MicroKind::Load(plan) | MicroKind::Store(plan) => {
                !matches!(program.accesses[plan as usize].space, Space::Local | Space::Param | Space::Const)
            }
            _ => false,
        };
        row = if sees || micro.straight == 0 { 0 } else { row.saturating_add(1).min(micro.straight) };
        unseen[at] = row;
    }
    unseen
}

impl Hook for Finder {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn skips(&self) -> bool {
        true
    }

    fn unseen(&self, micro: u32) -> u16 {
        self.unseen[micro as usize]
    }

    fn between(&mut self, context: RoundContext<'_>) -> Interest {
        let issued: u64 = context.block.warps.iter().map(|warp| warp.control.issued).sum();
        let executed = self.races.instructions.saturating_add(issued.saturating_mul(::lanes::registers::LANES as u64));
        if executed > self.left.instructions { Interest::Stop } else { Interest::Stay }
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        if context.executing == 0 {
            return Interest::Stay;
        }
        if self.left.words == 0 || self.is_short {
            return Interest::Stop;
        }
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
