//! The executions of an instruction that are in a population: by how often a thread has executed it, and by what registers
//! have right before it.

use crate::compare::value;
use capsule::ElementType;
use facts::{FunctionId, Role, Type};
use fault::{Ranges, RegisterCondition, Selection, is_number};
use simt::program::StaticInstruction;
use simt::registers::{LANES, Slot, lanes};
use simt::{InstructionContext, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Registers that are named where one is not found.
const SHOWN: usize = 8;

/// How often each thread of a block has executed each instruction, kept where a selection takes some of these times only; and the
/// registers that it asks for.
pub(crate) struct Executions<'s> {
    selected: &'s Ranges,
    instructions: usize,
    /// By warp, instruction and lane.
    times: Vec<[u32; LANES]>,
    conditions: Vec<ResolvedCondition<'s>>,
}

/// A condition with the places of its register, by function.
struct ResolvedCondition<'s> {
    condition: &'s RegisterCondition,
    places: BTreeMap<FunctionId, (Slot, Type)>,
    /// By instruction, whether it writes the register.
    writes: Vec<bool>,
    /// By warp, the lanes that have written the register in this block; others have no value in it.
    written: Vec<u32>,
}

impl<'s> Executions<'s> {
    pub(crate) fn of(selection: &'s Selection, program: &Program, warps: usize) -> Self {
        let instructions = program.instructions.len();
        let kept = if selection.iterations.is_all() { 0 } else { warps * instructions };
        let resolved = |condition| ResolvedCondition {
            condition,
            places: places(condition, program).filter_map(readable).collect(),
            writes: writes(condition, program),
            written: vec![0; warps],
        };
        Self {
            selected: &selection.iterations,
            instructions,
            times: vec![[0; LANES]; kept],
            conditions: selection.narrowing.registers.iter().map(resolved).collect(),
        }
    }

    /// Another block begins.
    pub(crate) fn begin(&mut self) {
        self.times.fill([0; LANES]);
        self.conditions.iter_mut().for_each(|it| it.written.fill(0));
    }

    /// Lanes are about to execute an instruction, whether it is in the population or not.
    pub(crate) fn note_writes(&mut self, context: &InstructionContext<'_>) {
        for it in &mut self.conditions {
            if it.writes[context.instruction as usize] {
                it.written[context.warp as usize] |= context.executing;
            }
        }
    }

    /// Lanes execute an instruction: for which of them this time is one of those selected.
    pub(crate) fn pass(&mut self, context: &InstructionContext<'_>) -> u32 {
        let of_time = self.of_time(context.warp, context.instruction, context.executing);
        self.conditions.iter().fold(of_time, |selected, it| it.among(context, selected))
    }

    fn of_time(&mut self, warp: u32, instruction: u32, executing: u32) -> u32 {
        if self.times.is_empty() {
            return executing;
        }
        let times = &mut self.times[warp as usize * self.instructions + instruction as usize];
        lanes(executing).fold(0, |selected, lane| {
            let time = times[lane];
            times[lane] = time.saturating_add(1);
            if self.selected.holds(u64::from(time)) { selected | (1 << lane) } else { selected }
        })
    }
}

impl ResolvedCondition<'_> {
    /// The lanes of some in which the condition holds: none in a function without the register.
    fn among(&self, context: &InstructionContext<'_>, selected: u32) -> u32 {
        let function = context.program.function_of(context.instruction);
        let Some(&(slot, ty)) = function.and_then(|code| self.places.get(&code.id)) else { return 0 };
        lanes(selected & self.written[context.warp as usize]).fold(0, |held, lane| {
            let found = number(ty, context.registers.get(slot, lane));
            if self.condition.relation.holds(found, self.condition.wanted) { held | (1 << lane) } else { held }
        })
    }
}

/// By instruction of a program, whether it writes the register of a condition.
fn writes(condition: &RegisterCondition, program: &Program) -> Vec<bool> {
    let writes = |(number, instruction): (u32, &StaticInstruction)| {
        let (facts, code) = (instruction.facts.as_ref()?, program.function_of(number)?);
        let register = code.declared.iter().position(|register| register.name == condition.register)?;
        Some(facts.of_role(Role::Destination).any(|operand| operand.register.index() == register))
    };
    (0..).zip(&program.instructions).map(|it| writes(it).unwrap_or(false)).collect()
}

/// The number that the low bits of a register are.
fn number(ty: Type, bits: u128) -> f64 {
    match ty.word().parse::<ElementType>() {
        Ok(element) => value(element, &bits.to_le_bytes()[..element.bytes() as usize]),
        // A predicate.
        Err(_) => bits as f64,
    }
}

/// Where the register of a condition is, the type of its value, and whether these are bits of a number, by function of a program.
fn places<'p>(
    condition: &'p RegisterCondition,
    program: &'p Program,
) -> impl Iterator<Item = (FunctionId, Slot, Result<Type, String>)> {
    program.functions.iter().filter_map(move |code| {
        let at = code.declared.iter().position(|register| register.name == condition.register)?;
        let (declared, slot) = (code.declared[at].ty, *code.registers.get(at)?);
        let ty = match condition.ty {
            Some(ty) if ty.bits() > declared.bits() => {
                Err(format!("it has {} bits, and {ty} has more", declared.bits()))
            }
            Some(ty) => Ok(ty),
            None if is_number(declared) => Ok(declared),
            None => Err(format!(
                "it is declared as {declared}, which does not say a number: write one, such as {}.s{}",
                condition.register,
                declared.bits()
            )),
        };
        Some((code.id, slot, ty))
    })
}

fn readable((function, slot, ty): (FunctionId, Slot, Result<Type, String>)) -> Option<(FunctionId, (Slot, Type))> {
    Some((function, (slot, ty.ok()?)))
}

/// Whether some program declares the register of a condition, with bits that are a number.
///
/// # Errors
/// If none does.
pub(crate) fn check<'p>(
    condition: &RegisterCondition,
    programs: impl Iterator<Item = &'p Program>,
) -> Result<(), String> {
    let (mut wrong, mut names) = (None, BTreeSet::new());
    for program in programs {
        for (_, _, ty) in places(condition, program) {
            match ty {
                Ok(_) => return Ok(()),
                Err(why) => wrong = Some(why),
            }
        }
        names.extend(program.functions.iter().flat_map(|code| code.declared.iter().map(|it| it.name.as_str())));
    }
    let some = || names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    Err(wrong.unwrap_or_else(|| {
        format!("no kernel or function has this register; they have {}, for example {}", names.len(), some())
    }))
}
