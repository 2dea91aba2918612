//! Barrier objects in shared memory: lane by lane in ascending order.
//!
//! The ISA keeps the object's 64 bits to itself. Ours are, from the lowest: 20 bits of arrivals that the phase still
//! waits for, 20 bits of arrivals that each phase waits for, and 24 bits that count phases. A state is the object as
//! it was before the arrival that returned it.

use crate::access::{Executing, LaneTrap, Memories, read_one, write_one};
use crate::atomic::resolve;
use crate::program::MbarrierPlan;
use crate::trap::TrapKind;
use ::lanes::registers::lanes;
use isa::Space;
use isa::op::MbarrierOp;

/// Bits of a count.
const COUNT: u32 = 20;
const MOST: u64 = (1 << COUNT) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    pending: u64,
    expected: u64,
    phase: u64,
}

impl Object {
    fn of(word: u64) -> Self {
        Self { pending: word & MOST, expected: (word >> COUNT) & MOST, phase: word >> (2 * COUNT) }
    }

    fn word(self) -> u64 {
        self.pending | (self.expected << COUNT) | (self.phase << (2 * COUNT))
    }

    /// As many arrivals; `None` where the phase waits for fewer.
    fn arrive(mut self, count: u64) -> Option<Self> {
        self.pending = self.pending.checked_sub(count).filter(|_| count > 0)?;
        if self.pending == 0 {
            self = Self { pending: self.expected, phase: self.phase + 1, ..self };
        }
        Some(self)
    }

    /// The later phases wait for fewer arrivals.
    fn drop(self, count: u64) -> Option<Self> {
        Some(Self { expected: self.expected.checked_sub(count)?, ..self })
    }
}

/// Does what the instruction says for every lane that executes it.
pub(crate) fn mbarrier(on: &mut Executing<'_>, plan: &MbarrierPlan) -> Result<(), LaneTrap> {
    let at = on.addresses(&plan.access);
    let Executing { registers, memories, .. } = on;
    for lane in lanes(on.mask) {
        let operand = plan.operand.map_or(1, |slot| registers.get(slot, lane) as u64);
        let result = if plan.op == MbarrierOp::PendingCount {
            operand & MOST
        } else {
            let (Space::Shared, address) = resolve(plan.access.space, at[lane]) else {
                return Err(LaneTrap::at(TrapKind::IllegalAddress, lane, at[lane]));
            };
            step(memories, plan.op, address, lane, operand)?
        };
        if let Some(slot) = plan.access.values.first().copied().flatten() {
            registers.set(slot, lane, result.into());
        }
    }
    Ok(())
}

/// One lane's access; what its destination receives.
fn step(memories: &mut Memories<'_>, op: MbarrierOp, address: u64, lane: usize, operand: u64) -> Result<u64, LaneTrap> {
    let word: u64 = read_one(memories, Space::Shared, address, lane)?;
    let object = Object::of(word);
    let illegal = LaneTrap::at(TrapKind::IllegalInstruction, lane, address);
    let next = match op {
        MbarrierOp::Init if operand == 0 || operand > MOST => None,
        MbarrierOp::Init => Some(Object { pending: operand, expected: operand, phase: 0 }),
        MbarrierOp::Inval => Some(Object::of(0)),
        MbarrierOp::Arrive | MbarrierOp::ArriveNoComplete => object.arrive(operand),
        MbarrierOp::ArriveDrop | MbarrierOp::ArriveDropNoComplete => {
            object.drop(operand).and_then(|object| object.arrive(operand))
        }
        MbarrierOp::TestWait | MbarrierOp::TryWait => {
            return Ok(u64::from(Object::of(operand).phase != object.phase));
        }
        // The parity is that of the phase which is waited for.
        MbarrierOp::TestWaitParity | MbarrierOp::TryWaitParity => {
            return Ok(u64::from((object.phase ^ operand) & 1 == 1));
        }
        MbarrierOp::PendingCount => Some(object),
    };
    write_one(memories, Space::Shared, address, lane, next.ok_or(illegal)?.word())?;
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_waits_for_fewer_after_a_drop() {
        let start = Object { pending: 3, expected: 3, phase: 0 };
        let two = start.arrive(2).unwrap();
        assert_eq!((two.pending, two.phase), (1, 0));
        assert_eq!(two.arrive(2), None);
        let next = two.drop(1).unwrap().arrive(1).unwrap();
        assert_eq!(next, Object { pending: 2, expected: 2, phase: 1 });
        assert_eq!(Object::of(next.word()), next);
        assert_eq!(Object::of(0).arrive(1), None);
    }
}
