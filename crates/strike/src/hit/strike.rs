//! The moment of the fault: bits change.

use super::{Hit, Phase, Place, SavedRegister, landed};
use facts::Reg;
use fault::{Memory, Scope, Target, TargetOperand};
use outcome::FirstUse;
use simt::memory::{AccessTrace, PAGE};
use simt::registers::{has, lanes};
use simt::{InstructionContext, OwnByte};

impl Hit<'_> {
    /// Makes the fault happen. If it cannot, nothing is left of it.
    pub(super) fn strike(&mut self, context: &mut InstructionContext<'_>) {
        self.phase = Phase::Gone;
        let (program, target) = (context.program, self.fault.target);
        let Some(facts) = program.facts(context.instruction) else { return };
        match target {
            Target::Memory(memory, at) => self.strike_memory(context, memory, at),
            Target::Register(number) => {
                let declared =
                    program.function_of(context.instruction).and_then(|code| code.declared.get(number as usize));
                let Some(register) = declared else { return };
                self.strike_register(context, TargetOperand::of_register(Reg(number), register.width().bits()));
            }
            _ => {
                let Some(operand) = fault::operand(target, facts) else { return };
                let hit = self.strike_register(context, operand);
                if !hit || matches!(target, Target::Destination(_)) {
                    return;
                }
                // The instruction that is hit is the one that reads.
                self.injected.first_use = FirstUse::Read { after: 0 };
                self.phase = if self.is_harmless() { Phase::Gone } else { Phase::Done };
                if facts.writes().any(|written| written == operand.register) {
                    // What it writes there stays.
                    self.loans.clear();
                }
            }
        }
    }

    /// Hits an operand that is in a register; whether it has.
    fn strike_register(&mut self, context: &mut InstructionContext<'_>, operand: TargetOperand) -> bool {
        let mask = self.lanes_hit(context.executing);
        let slot = context.program.slot(context.instruction, operand.register);
        let Some(slot) = slot.filter(|_| mask != 0 && self.fault.model.fits(operand.bits)) else { return false };
        let low = if operand.bits >= 128 { u128::MAX } else { (1 << operand.bits) - 1 };
        let offset = operand.offset as i128 as u128;
        let own = self.lane();
        let lent = !matches!(operand.target, Target::Destination(_) | Target::Register(_));
        for lane in lanes(mask) {
            let held = context.registers.get(slot, lane);
            let before = held.wrapping_add(offset) & low;
            let after = self.fault.model.apply(before);
            context.registers.set(slot, lane, (held & !low) | (after.wrapping_sub(offset) & low));
            if lent {
                self.loans.push(SavedRegister { lane, slot, held });
            }
            if lane == own {
                self.injected.landed = Some(landed(before, after, mask));
            }
        }
        let function = context.program.instructions[context.instruction as usize].function;
        // Of several threads, one is watched; what the others do with theirs is not known.
        let private =
            self.fault.scope == Scope::Thread && self.liveness.is_some_and(|liveness| liveness.is_private(slot));
        self.place = Some(Place::Register { function, register: operand.register, private });
        self.phase = Phase::Watching;
        true
    }

    fn strike_memory(&mut self, context: &mut InstructionContext<'_>, memory: Memory, at: u64) {
        if !self.fault.model.fits(u8::BITS) || self.fault.scope != Scope::Thread {
            return;
        }
        let lane = self.lane();
        let apply = |before: u8| self.fault.model.apply(before.into()) as u8;
        let (before, place) = match memory {
            Memory::Global | Memory::Const => {
                let offset = (at % PAGE as u64) as usize;
                if !context.global.allocations().contains(at, 1) {
                    return;
                }
                let Some(page) = context.global.page_mut(at, offset..offset + 1) else { return };
                let before = page[offset];
                page[offset] = apply(before);
                context.global.set_trace(Some(AccessTrace::watching(at)));
                (before, Place::Global)
            }
            Memory::Shared => {
                let byte = usize::try_from(at).ok().and_then(|at| context.shared.get_mut(at));
                let Some(byte) = byte else { return };
                let before = *byte;
                *byte = apply(before);
                (before, Place::Own(OwnByte::Shared(at)))
            }
            Memory::Local => {
                if at >= u64::from(context.frame.end) || !has(context.executing, lane) {
                    return;
                }
                let (word, shift) = (at as usize / 4, 8 * (at % 4));
                if context.local.len() <= word {
                    context.local.resize(word + 1, [0; simt::registers::LANES]);
                }
                let word = &mut context.local[word][lane];
                let before = (*word >> shift) as u8;
                *word = (*word & !(0xff << shift)) | (u32::from(apply(before)) << shift);
                (before, Place::Own(OwnByte::Local { warp: context.warp, lane, at }))
            }
        };
        self.injected.landed = Some(landed(before.into(), apply(before).into(), 1 << lane));
        self.place = Some(place);
        self.phase = Phase::Watching;
    }
}
