//! The moment of the fault: bits change.

use super::{Hit, Loan, Phase, Place, landed};
use facts::Reg;
use fault::{Memory, Operand, Scope, Target};
use outcome::FirstUse;
use simt::memory::{PAGE, Trace};
use simt::registers::{has, lanes};
use simt::{Moment, OwnByte};

impl Hit<'_> {
    /// Makes the fault happen. If it cannot, nothing is left of it.
    pub(super) fn strike(&mut self, moment: &mut Moment<'_>) {
        self.phase = Phase::Gone;
        let (program, target) = (moment.program, self.fault.target);
        let Some(facts) = program.facts(moment.site) else { return };
        match target {
            Target::Memory(memory, at) => self.strike_memory(moment, memory, at),
            Target::Register(number) => {
                let declared = program.function_of(moment.site).and_then(|code| code.declared.get(number as usize));
                let Some(register) = declared else { return };
                self.strike_register(moment, Operand::of_register(Reg(number), register.width().bits()));
            }
            _ => {
                let Some(operand) = fault::operand(target, facts) else { return };
                let hit = self.strike_register(moment, operand);
                if !hit || matches!(target, Target::Destination(_)) {
                    return;
                }
                // The instruction that is hit is the one that reads.
                self.struck.first_use = FirstUse::Read { after: 0 };
                self.phase = if self.is_harmless() { Phase::Gone } else { Phase::Done };
                if facts.writes().any(|written| written == operand.register) {
                    // What it writes there stays.
                    self.loans.clear();
                }
            }
        }
    }

    /// Hits an operand that is in a register; whether it has.
    fn strike_register(&mut self, moment: &mut Moment<'_>, operand: Operand) -> bool {
        let mask = self.lanes_hit(moment.executing);
        let slot = moment.program.slot(moment.site, operand.register);
        let Some(slot) = slot.filter(|_| mask != 0 && self.fault.model.fits(operand.bits)) else { return false };
        let low = if operand.bits >= 128 { u128::MAX } else { (1 << operand.bits) - 1 };
        let offset = operand.offset as i128 as u128;
        let own = self.lane();
        let lent = !matches!(operand.target, Target::Destination(_) | Target::Register(_));
        for lane in lanes(mask) {
            let held = moment.registers.get(slot, lane);
            let before = held.wrapping_add(offset) & low;
            let after = self.fault.model.apply(before);
            moment.registers.set(slot, lane, (held & !low) | (after.wrapping_sub(offset) & low));
            if lent {
                self.loans.push(Loan { lane, slot, held });
            }
            if lane == own {
                self.struck.landed = Some(landed(before, after, mask));
            }
        }
        let function = moment.program.sites[moment.site as usize].function;
        // Of several threads, one is watched; what the others do with theirs is not known.
        let private =
            self.fault.scope == Scope::Thread && self.liveness.is_some_and(|liveness| liveness.is_private(slot));
        self.place = Some(Place::Register { function, register: operand.register, private });
        self.phase = Phase::Watching;
        true
    }

    fn strike_memory(&mut self, moment: &mut Moment<'_>, memory: Memory, at: u64) {
        if !self.fault.model.fits(u8::BITS) || self.fault.scope != Scope::Thread {
            return;
        }
        let lane = self.lane();
        let apply = |before: u8| self.fault.model.apply(before.into()) as u8;
        let (before, place) = match memory {
            Memory::Global | Memory::Const => {
                let offset = (at % PAGE as u64) as usize;
                if !moment.global.allocations().contains(at, 1) {
                    return;
                }
                let Some(page) = moment.global.page_mut(at) else { return };
                let before = page[offset];
                page[offset] = apply(before);
                moment.global.set_trace(Some(Trace::watching(at)));
                (before, Place::Global)
            }
            Memory::Shared => {
                let byte = usize::try_from(at).ok().and_then(|at| moment.shared.get_mut(at));
                let Some(byte) = byte else { return };
                let before = *byte;
                *byte = apply(before);
                (before, Place::Own(OwnByte::Shared(at)))
            }
            Memory::Local => {
                if at >= u64::from(moment.frame.end) || !has(moment.executing, lane) {
                    return;
                }
                let (word, shift) = (at as usize / 4, 8 * (at % 4));
                if moment.local.len() <= word {
                    moment.local.resize(word + 1, [0; simt::registers::LANES]);
                }
                let word = &mut moment.local[word][lane];
                let before = (*word >> shift) as u8;
                *word = (*word & !(0xff << shift)) | (u32::from(apply(before)) << shift);
                (before, Place::Own(OwnByte::Local { warp: moment.warp, lane, at }))
            }
        };
        self.struck.landed = Some(landed(before.into(), apply(before).into(), 1 << lane));
        self.place = Some(place);
        self.phase = Phase::Watching;
    }
}
