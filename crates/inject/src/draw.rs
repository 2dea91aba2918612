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
use fault::{Aim, Extent, Fault, Member, Memory, Pattern, Scope, Selection, Target};
use isa::{Function, Reg, Width};
use simt::memory::Version;
use simt::occupancy::{Needs, REGISTERS_PER_THREAD};
use simt::program::RESERVED_SHARED;
use simt::registers::{LANES, lanes};
use simt::{Liveness, Program};
use stats::Draws;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
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
    words: BTreeMap<u32, u64>,
}

/// A number uniform from 0 up to a bound, if there is any.
fn below(draws: &mut Draws, bound: u64) -> Option<u64> {
    NonZeroU64::new(bound).map(|bound| draws.below(bound))
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
                let site = &launch.program.sites[found.site as usize];
                let function = self.golden.module(launch)?.function(site.function);
                let operands = self.selection.operands(function, function.at(site.pc)?);
                let operand = operands.get(below(draws, operands.len() as u64)? as usize)?;
                (operand.target, operand.bits)
            }
        };
        let model = self.selection.pattern.draw(bits, &mut |bound| draws.below(bound));
        let (cta, thread) = (member.thread / threads, (member.thread % threads) as u32);
        let scope = match self.selection.extent {
            Extent::Thread => Scope::Thread,
            Extent::Warp => Scope::Warp,
            Extent::Pair => {
                let first = thread - thread % LANES as u32;
                let others: Vec<u32> = lanes(found.executing).map(|lane| first + lane as u32).collect();
                let others: Vec<u32> = others.into_iter().filter(|&other| other != thread).collect();
                Scope::Pair(*others.get(below(draws, others.len() as u64)? as usize)?)
            }
        };
        Some(Fault { launch: member.launch, cta, thread, dynamic: found.dynamic, target, model, scope })
    }

    /// A register, and its width.
    fn register(&mut self, draws: &mut Draws, launch: u32, site: u32) -> Option<(Target, u32)> {
        let golden = &self.golden.launches[launch as usize];
        let module = self.golden.module(golden)?;
        let (program, pattern) = (&golden.program, self.selection.pattern);
        let allocated = self.registers.entry(launch).or_insert_with(|| Allocated::of(module, program, pattern));
        let id = program.sites[site as usize].function;
        let function = module.function(id);
        let live = allocated.live(program, function, site, pattern);
        let mut at = below(draws, *allocated.words.get(&id.0)?)?;
        for &register in &live {
            let words = words(function, register);
            if at < words {
                return Some((Target::Register(register.0), function.register(register).width().bits()));
            }
            at -= words;
        }
        let dead: Vec<Reg> = general(function, pattern).filter(|register| !live.contains(register)).collect();
        let register = *dead.get(below(draws, dead.len() as u64)? as usize)?;
        Some((Target::Register(register.0), function.register(register).width().bits()))
    }

    /// A byte of memory.
    fn byte(&mut self, draws: &mut Draws, launch: u32, memory: Option<Memory>, local: u32) -> Option<Target> {
        let golden = &self.golden.launches[launch as usize];
        let ranges = self.bytes.entry(launch).or_insert_with(|| device_bytes(self.golden, golden));
        let own = own_bytes(self.golden, golden, local);
        let all = || ranges.iter().chain(&own).filter(|(kind, _)| memory.is_none_or(|wanted| wanted == *kind));
        let mut at = below(draws, all().map(|(_, range)| range.end - range.start).sum())?;
        for (kind, range) in all() {
            if at < range.end - range.start {
                return Some(Target::Memory(*kind, range.start + at));
            }
            at -= range.end - range.start;
        }
        None
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
    fn of(module: &isa::Module, program: &Program, pattern: Pattern) -> Self {
        let mut allocated = Self { liveness: Liveness::of(module, program), words: BTreeMap::new() };
        for (number, site) in (0..).zip(&program.sites) {
            let function = module.function(site.function);
            let live = allocated.live(program, function, number, pattern);
            let words: u64 = live.iter().map(|&register| words(function, register)).sum();
            let most = allocated.words.entry(site.function.0).or_default();
            *most = words.max(*most);
        }
        allocated
    }

    /// The registers that are live before a site and can be hit; all of a function too large to say.
    fn live(&self, program: &Program, function: &Function, site: u32, pattern: Pattern) -> Vec<Reg> {
        match &self.liveness {
            None => general(function, pattern).collect(),
            Some(liveness) => {
                let live = liveness.live_before(program, site);
                live.into_iter().filter(|&register| is_general(function, register, pattern)).collect()
            }
        }
    }
}

/// The registers of a function that can be hit.
fn general(function: &Function, pattern: Pattern) -> impl Iterator<Item = Reg> {
    let all = (0..function.registers.len() as u32).map(Reg);
    all.filter(move |&register| is_general(function, register, pattern))
}

fn is_general(function: &Function, register: Reg, pattern: Pattern) -> bool {
    let width = function.register(register).width();
    width != Width::Pred && pattern.hits(width.bits())
}

/// The words of 32 bits that a register takes.
fn words(function: &Function, register: Reg) -> u64 {
    u64::from(function.register(register).width().bits().div_ceil(32))
}

/// What each selected kernel is given of the register file: the words that are live of a thread where most are, over its
/// functions, and the share of the device's registers that its grids take while they run at their fullest, a mean over
/// its launches by instructions.
pub(crate) fn registers(golden: &Golden, selection: &Selection) -> Vec<KernelRegisters> {
    let mut kernels: BTreeMap<&str, (u32, f64, f64)> = BTreeMap::new();
    for launch in &golden.launches {
        let (name, Some(module)) = (launch.program.name.as_str(), golden.module(launch)) else { continue };
        if !selection.holds_launch(name, launch.number) {
            continue;
        }
        let (registers, given, weight) = kernels.entry(name).or_insert_with(|| {
            let allocated = Allocated::of(module, &launch.program, Pattern::Single);
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
