//! The registers that a kernel is given.
//!
//! A register at a random time is drawn among as many 32-bit words as the function has live where most are live: that is
//! what a compiler must allocate at least. What exceeds those live at that time holds nothing that is still read, and
//! stands for a dead register. Predicates are no part of that file.

use crate::golden::Golden;
use campaign::KernelRegisters;
use device::runnable;
use facts::{FunctionId, Reg};
use fault::{Patterns, Selection, WARP};
use simt::occupancy::{Needs, REGISTERS_PER_THREAD};
use simt::program::{FunctionCode, RESERVED_SHARED};
use simt::{Liveness, Program};
use std::collections::BTreeMap;

/// The registers of a kernel's functions that are allocated.
pub(crate) struct Allocated {
    liveness: Option<Liveness>,
    /// By function, the words of 32 bits that are live where most are.
    pub(crate) words: BTreeMap<FunctionId, u64>,
}

impl Allocated {
    pub(crate) fn of(program: &Program, patterns: &Patterns) -> Self {
        let mut allocated = Self { liveness: Liveness::of(program), words: BTreeMap::new() };
        for (number, instruction) in (0..).zip(&program.instructions) {
            let Some(code) = program.function(instruction.function) else { continue };
            let live = allocated.live(program, code, number, patterns);
            let words: u64 = live.iter().map(|&register| words(code, register)).sum();
            let most = allocated.words.entry(instruction.function).or_default();
            *most = words.max(*most);
        }
        allocated
    }

    /// The registers that are live before an instruction and can be hit; all of a function too large to say.
    pub(crate) fn live(
        &self,
        program: &Program,
        code: &FunctionCode,
        instruction: u32,
        patterns: &Patterns,
    ) -> Vec<Reg> {
        match &self.liveness {
            None => general(code, patterns).collect(),
            Some(liveness) => {
                let live = liveness.live_before(program, instruction);
                live.into_iter().filter(|&register| is_general(code, register, patterns)).collect()
            }
        }
    }
}

/// The registers of a function that can be hit.
pub(crate) fn general(code: &FunctionCode, patterns: &Patterns) -> impl Iterator<Item = Reg> {
    let all = (0..code.declared.len() as u32).map(Reg);
    all.filter(move |&register| is_general(code, register, patterns))
}

/// Whether a function has a register of this number that can be hit.
pub(crate) fn has(code: &FunctionCode, number: u32, patterns: &Patterns) -> bool {
    (number as usize) < code.declared.len() && is_general(code, Reg(number), patterns)
}

fn is_general(code: &FunctionCode, register: Reg, patterns: &Patterns) -> bool {
    let register = &code.declared[register.index()];
    !register.is_predicate() && patterns.hits(register.width().bits(), WARP)
}

/// The words of 32 bits that a register takes.
pub(crate) fn words(code: &FunctionCode, register: Reg) -> u64 {
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
            let allocated = Allocated::of(&launch.program, &Patterns::default());
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
