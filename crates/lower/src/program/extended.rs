//! Arithmetic with the carry flag, which is a predicate row of the function.

use super::Lowering;
use isa::op::Extended;
use isa::{Instruction, Width};
use simt::GuestError;
use simt::program::{MicroKind, PredOp};

impl Lowering<'_> {
    /// A product if there is one, the flag afterwards, the result.
    pub(super) fn extended(&mut self, instruction: &Instruction, extended: Extended) -> Result<(), GuestError> {
        let mut terms = self.sources(instruction, &vec![extended.ty; extended.sources()])?;
        if let Some(product) = extended.product() {
            let row = self.temporary(extended.ty.width())?;
            self.emit(MicroKind::Alu(product as u16), row, &terms[..2]);
            terms.splice(..2, [row]);
        }
        let flag = self.carry()?;
        terms.push(if extended.reads { flag } else { self.constant(Width::Pred, extended.initial().into())? });
        let (result, after) = extended.lines();
        // The destination may be a source: the flag is computed before, and written when it has been read.
        let carry = self.temporary(Width::Pred)?;
        if extended.writes {
            self.emit(MicroKind::Alu(after as u16), carry, &terms);
        }
        let target = self.destination(instruction.dst.first(), extended.ty)?;
        self.emit(MicroKind::Alu(result as u16), target.row, &terms);
        if extended.writes {
            self.emit(MicroKind::Pred(PredOp::Or), flag, &[carry, carry]);
        }
        self.finish(&target)
    }

    /// The row of the function's carry flag, which starts at zero.
    fn carry(&mut self) -> Result<u16, GuestError> {
        let function = self.at.index;
        if let Some(&row) = self.carries.get(&function) {
            return Ok(row);
        }
        let slot = self.row(Width::Pred)?;
        self.carries.insert(function, slot.index);
        let code = &mut self.program.functions[function as usize];
        code.registers.push(slot);
        code.zeroed.push(slot);
        Ok(slot.index)
    }
}
