//! From a dynamic instruction to a fault: the operand, register or byte is drawn, then what happens to it, then who else
//! is hit.
//!
//! Which registers there are to draw from is in [`registers`](crate::registers), which bytes in
//! [`reach`](crate::reach).

use crate::golden::Golden;
use crate::reach::{device_bytes, own_bytes};
use crate::registers::{Allocated, general, words};
use crate::resolve::ResolvedMember;
use facts::Reg;
use fault::{Fault, Member, Memory, Scope, ScopeKind, Selection, Target, TargetKind};
use simt::registers::{LANES, lanes};
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

impl<'g> Drawer<'g> {
    pub(crate) fn new(golden: &'g Golden, selection: &'g Selection) -> Self {
        Self { golden, selection, registers: BTreeMap::new(), bytes: BTreeMap::new() }
    }

    /// A fault at a member of the population; `None` if there is nothing to hit.
    pub(crate) fn fault(&mut self, draws: &mut Draws, member: Member, found: ResolvedMember) -> Option<Fault> {
        let launch = &self.golden.launches[member.launch as usize];
        let threads = self.golden.recorded(launch).threads_per_block();
        let (target, bits) = match self.selection.target {
            TargetKind::Register(words) => self.register(draws, member.launch, found.instruction, words)?,
            TargetKind::ChosenRegister(number) => {
                let program = &self.golden.launches[member.launch as usize].program;
                let code = program.function_of(found.instruction)?;
                (Target::Register(number), code.declared.get(number as usize)?.width().bits())
            }
            TargetKind::Memory(memory) => (self.byte(draws, member.launch, memory, found.local)?, u8::BITS),
            _ => {
                let facts = launch.program.facts(found.instruction)?;
                let operand = *draws.one_of(&self.selection.operands_of(facts, found.executing.count_ones()))?;
                (operand.target, operand.bits)
            }
        };
        let (model, scope) = self.selection.patterns.draw(draws, bits, found.executing.count_ones())?;
        let (cta, thread) = (member.thread / threads, (member.thread % threads) as u32);
        let (first, own) = (thread - thread % LANES as u32, thread as usize % LANES);
        let mut others: Vec<usize> = lanes(found.executing).filter(|&lane| lane != own).collect();
        let scope = match scope {
            ScopeKind::Thread => Scope::Thread,
            ScopeKind::Warp => Scope::Warp,
            ScopeKind::Pair => Scope::Pair(first + *draws.one_of(&others)? as u32),
            ScopeKind::Lanes(threads) => {
                let mut hit = 1u32 << own;
                for _ in 1..threads {
                    let at = draws.below(others.len() as u64)?;
                    hit |= 1 << others.swap_remove(at as usize);
                }
                Scope::Lanes(hit)
            }
        };
        Some(Fault {
            isa: launch.isa,
            launch: member.launch,
            cta,
            thread,
            dynamic: found.dynamic,
            target,
            model,
            scope,
        })
    }

    /// A register, and its width: among so many words of 32 bits, or those that are allocated.
    fn register(
        &mut self,
        draws: &mut Draws,
        launch: u32,
        instruction: u32,
        among: Option<u32>,
    ) -> Option<(Target, u32)> {
        let program = &self.golden.launches[launch as usize].program;
        let patterns = &self.selection.patterns;
        let allocated = self.registers.entry(launch).or_insert_with(|| Allocated::of(program, patterns));
        let code = program.function_of(instruction)?;
        let live = allocated.live(program, code, instruction, patterns);
        let among = among.map_or_else(|| allocated.words.get(&code.id).copied(), |words| Some(u64::from(words)));
        let number = draws.below(among?)?;
        let by_word: Cumulative<Reg> = live.iter().map(|&register| (register, words(code, register))).collect();
        let register = match by_word.find(number) {
            Some((register, _)) => *register,
            None => {
                let dead: Vec<Reg> = general(code, patterns).filter(|register| !live.contains(register)).collect();
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
