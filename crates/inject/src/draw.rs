//! From a dynamic instruction to a fault: the operand, register or byte is drawn, then what happens to it, then who else
//! is hit.
//!
//! A register at a random time is drawn among as many 32-bit words as the function has live where most are live: that is
//! what a compiler must allocate at least. What exceeds those live at that time holds nothing that is still read, and
//! stands for a dead register. Predicates are no part of that file.
//!
//! A byte of memory is drawn among those that the thread reaches then: allocations and variables, shared memory of its
//! block, its own local memory. What the machine keeps for itself (the heap of `malloc`, the workspace of cooperative
//! launches, the reserved start of shared memory) is left out.

use crate::golden::{Golden, GoldenLaunch};
use crate::sample::Found;
use campaign::KernelRegisters;
use device::runnable;
use facts::{FunctionId, Reg};
use fault::{Aim, Extent, Fault, Member, Memory, Pattern, Scope, Selection, Target, draw};
use simt::memory::Version;
use simt::occupancy::{Needs, REGISTERS_PER_THREAD};
use simt::program::{Code, RESERVED_SHARED};
use simt::registers::{LANES, lanes};
use simt::{Liveness, Program};
use stats::{Cumulative, Draws};
use std::collections::BTreeMap;
use std::ops::Range;

/// Draws the faults of a selection.
pub(crate) struct Drawer<'g> {
    golden: &'g Golden,
    selection: &'g Selection,
    /// By launch.
    registers: BTreeMap<u32, Allocated>,
    bytes: BTreeMap<u32, Vec<(Memory, Range<u64>)>>,
}

/// The registers of a kernel's functions that are allocated.
struct Allocated {
    liveness: Option<Liveness>,
    /// By function, the words of 32 bits that are live where most are.
    words: BTreeMap<FunctionId, u64>,
}

impl<'g> Drawer<'g> {
    pub(crate) fn new(golden: &'g Golden, selection: &'g Selection) -> Self {
        Self { golden, selection, registers: BTreeMap::new(), bytes: BTreeMap::new() }
    }

    /// A fault at a member of the population; `None` if there is nothing to hit.
    pub(crate) fn fault(&mut self, draws: &mut Draws, member: Member, found: Found) -> Option<Fault> {
        let launch = &self.golden.launches[member.launch as usize];
        let threads = self.golden.recorded(launch).threads_per_block();
        let (target, bits) = match self.selection.aim {
            Aim::Register => self.register(draws, member.launch, found.site)?,
            Aim::Memory(memory) => (self.byte(draws, member.launch, memory, found.local)?, u8::BITS),
            _ => {
                let operands = self.selection.operands(launch.program.facts(found.site)?);
                let operand = draw::operand(draws, self.selection.pattern, &operands)?;
                (operand.target, operand.bits)
            }
        };
        let model = draw::model(draws, self.selection.pattern, bits)?;
        let (cta, thread) = (member.thread / threads, (member.thread % threads) as u32);
        let scope = match self.selection.extent {
            Extent::Thread => Scope::Thread,
            Extent::Warp => Scope::Warp,
            Extent::Pair => {
                let first = thread - thread % LANES as u32;
                let others: Vec<u32> = lanes(found.executing).map(|lane| first + lane as u32).collect();
                let others: Vec<u32> = others.into_iter().filter(|&other| other != thread).collect();
                Scope::Pair(*draws.one_of(&others)?)
            }
        };
        Some(Fault {
            isa: self.golden.isa(launch),
            launch: member.launch,
            cta,
            thread,
            dynamic: found.dynamic,
            target,
            model,
            scope,
        })
    }

    /// A register, and its width.
    fn register(&mut self, draws: &mut Draws, launch: u32, site: u32) -> Option<(Target, u32)> {
        let program = &self.golden.launches[launch as usize].program;
        let pattern = self.selection.pattern;
        let allocated = self.registers.entry(launch).or_insert_with(|| Allocated::of(program, pattern));
        let code = program.function_of(site)?;
        let live = allocated.live(program, code, site, pattern);
        let number = draws.below(*allocated.words.get(&code.id)?)?;
        let by_word: Cumulative<Reg> = live.iter().map(|&register| (register, words(code, register))).collect();
        let register = match by_word.find(number) {
            Some((register, _)) => *register,
            None => {
                let dead: Vec<Reg> = general(code, pattern).filter(|register| !live.contains(register)).collect();
                *draws.one_of(&dead)?
            }
        };
        Some((Target::Register(register.0), code.declared[register.index()].width().bits()))
    }

    /// A byte of memory.
    fn byte(&mut self, draws: &mut Draws, launch: u32, memory: Option<Memory>, local: u32) -> Option<Target> {
        let golden = &self.golden.launches[launch as usize];
        let ranges = self.bytes.entry(launch).or_insert_with(|| device_bytes(self.golden, golden));
        let own = own_bytes(self.golden, golden, local);
        let all = ranges.iter().chain(&own).filter(|(kind, _)| memory.is_none_or(|wanted| wanted == *kind));
        let bytes: Cumulative<&(Memory, Range<u64>)> = all.map(|place| (place, place.1.end - place.1.start)).collect();
        let ((kind, range), offset) = bytes.find(draws.below(bytes.total())?)?;
        Some(Target::Memory(*kind, range.start + offset))
    }
}

/// Whether a launch has at all times what a selection aims at; operands are looked for instruction by instruction.
pub(crate) fn has_target(golden: &Golden, launch: &GoldenLaunch, selection: &Selection) -> bool {
    match selection.aim {
        Aim::Memory(memory) => {
            let frame = launch.program.functions[0].frame;
            let mut all = device_bytes(golden, launch);
            all.extend(own_bytes(golden, launch, frame));
            let wanted =
                |(kind, range): &(Memory, Range<u64>)| memory.is_none_or(|wanted| wanted == *kind) && !range.is_empty();
            selection.pattern.hits(u8::BITS) && all.iter().any(wanted)
        }
        _ => true,
    }
}

/// The bytes of device memory at the start of a launch, ascending.
fn device_bytes(golden: &Golden, launch: &GoldenLaunch) -> Vec<(Memory, Range<u64>)> {
    let (constants, reserved) = golden.modules.placed();
    let allocations = golden.history.allocations(Version::before(launch.event as u32));
    let allocations = allocations.iter().filter(|(start, _)| !reserved.contains(start));
    let kind = |start: &u64| if constants.contains(start) { Memory::Const } else { Memory::Global };
    allocations.map(|(start, bytes)| (kind(&start), start..start + bytes)).collect()
}

/// The bytes of shared memory of a block, and those of local memory of a thread that has so many.
fn own_bytes(golden: &Golden, launch: &GoldenLaunch, local: u32) -> [(Memory, Range<u64>); 2] {
    let shared = golden.runnable(launch).shared();
    let shared = u64::from(RESERVED_SHARED.min(shared))..u64::from(shared);
    [(Memory::Shared, shared), (Memory::Local, 0..u64::from(local))]
}

impl Allocated {
    fn of(program: &Program, pattern: Pattern) -> Self {
        let mut allocated = Self { liveness: Liveness::of(program), words: BTreeMap::new() };
        for (number, site) in (0..).zip(&program.sites) {
            let Some(code) = program.function(site.function) else { continue };
            let live = allocated.live(program, code, number, pattern);
            let words: u64 = live.iter().map(|&register| words(code, register)).sum();
            let most = allocated.words.entry(site.function).or_default();
            *most = words.max(*most);
        }
        allocated
    }

    /// The registers that are live before a site and can be hit; all of a function too large to say.
    fn live(&self, program: &Program, code: &Code, site: u32, pattern: Pattern) -> Vec<Reg> {
        match &self.liveness {
            None => general(code, pattern).collect(),
            Some(liveness) => {
                let live = liveness.live_before(program, site);
                live.into_iter().filter(|&register| is_general(code, register, pattern)).collect()
            }
        }
    }
}

/// The registers of a function that can be hit.
fn general(code: &Code, pattern: Pattern) -> impl Iterator<Item = Reg> {
    let all = (0..code.declared.len() as u32).map(Reg);
    all.filter(move |&register| is_general(code, register, pattern))
}

fn is_general(code: &Code, register: Reg, pattern: Pattern) -> bool {
    let register = &code.declared[register.index()];
    !register.is_predicate() && pattern.hits(register.width().bits())
}

/// The words of 32 bits that a register takes.
fn words(code: &Code, register: Reg) -> u64 {
    u64::from(code.declared[register.index()].width().bits().div_ceil(32))
}

/// What each selected kernel is given of the register file: the words that are live of a thread where most are, over its
/// functions, and the share of the device's registers that its grids take while they run at their fullest, a mean over
/// its launches by instructions.
pub(crate) fn registers(golden: &Golden, selection: &Selection) -> Vec<KernelRegisters> {
    let mut kernels: BTreeMap<&str, (u32, f64, f64)> = BTreeMap::new();
    for launch in &golden.launches {
        let name = launch.program.name.as_str();
        if !selection.holds_launch(name, launch.number) {
            continue;
        }
        let (registers, given, weight) = kernels.entry(name).or_insert_with(|| {
            let allocated = Allocated::of(&launch.program, Pattern::Single);
            (allocated.words.values().copied().max().map_or(0, |words| words as u32), 0.0, 0.0)
        });
        let recorded = golden.recorded(launch);
        let shared = runnable(recorded, &launch.program).shared();
        let needs = Needs {
            threads: recorded.threads_per_block() as u32,
            registers: (*registers).clamp(1, REGISTERS_PER_THREAD),
            shared: u64::from(shared.saturating_sub(RESERVED_SHARED)),
        };
        let instructions = launch.thread_instructions() as f64;
        *given += needs.register_share(recorded.blocks()) * instructions;
        *weight += instructions;
    }
    let of = |(kernel, (registers_per_thread, given, weight)): (&str, (u32, f64, f64))| KernelRegisters {
        kernel: kernel.to_owned(),
        registers_per_thread,
        share: if weight > 0.0 { given / weight } else { 0.0 },
    };
    kernels.into_iter().map(of).collect()
}
