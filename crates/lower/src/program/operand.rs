//! Operands as rows: registers, constants, special registers, addresses, and the narrow ones in wide registers.

use super::Lowering;
use crate::place;
use isa::{Alu, Dst, Reg, Src, Symbol, Type, Width};
use simt::GuestError;
use simt::program::{MicroKind, PredOp};
use simt::registers::Slot;

/// A destination: the row to compute into, and where the result must then be extended to.
pub(super) struct Target {
    pub(super) row: u16,
    widen: Option<(Width, Slot, bool)>,
}

impl Lowering<'_> {
    pub(super) fn register(&self, reg: Reg) -> Slot {
        self.program.functions[self.at.index as usize].registers[reg.index()]
    }

    /// The row that an operand of type `ty` is read from; micro-operations that prepare it are emitted.
    pub(super) fn source(&mut self, operand: &Src, ty: Type) -> Result<u16, GuestError> {
        let width = ty.width();
        match operand {
            Src::Reg(reg) => {
                let slot = self.register(*reg);
                self.narrowed(slot, width)
            }
            Src::Not(reg) => {
                let row = self.register(*reg).index;
                let not = self.temporary(Width::Pred)?;
                self.emit(MicroKind::Pred(PredOp::Not), not, &[row, 0]);
                Ok(not)
            }
            Src::Imm(bits) => self.constant(width, u128::from(*bits)),
            Src::Special(special) => {
                let from = Slot { width: special.width(), index: 0 };
                let index = if special.is_counter() {
                    let row = self.temporary(from.width)?;
                    self.emit(MicroKind::Counter(*special), row, &[]);
                    row
                } else {
                    self.special(*special)?
                };
                self.narrowed(Slot { index, ..from }, width)
            }
            Src::Symbol(symbol, offset) => self.address_of(*symbol, *offset, width),
            Src::Address(..) => Err(self.unsupported("an address operand stands for a value")),
        }
    }

    /// The row itself, or a copy of its low bits, or its value zero-extended.
    fn narrowed(&mut self, slot: Slot, width: Width) -> Result<u16, GuestError> {
        if slot.width == width {
            return Ok(slot.index);
        }
        let alu = match (slot.width, width) {
            (Width::B32, Width::B16) => Alu::CvtU16U32,
            (Width::B64, Width::B16) => Alu::CvtU16U64,
            (Width::B64, Width::B32) => Alu::CvtU32U64,
            (from, to) => extension(from, to, false).ok_or_else(|| self.unsupported("operand of another width"))?,
        };
        let row = self.temporary(width)?;
        self.emit(MicroKind::Alu(alu as u16), row, &[slot.index]);
        Ok(row)
    }

    /// The row with the address of a symbol.
    fn address_of(&mut self, symbol: Symbol, offset: i64, width: Width) -> Result<u16, GuestError> {
        if let Some(range) = self.frames[self.at.index as usize].offsets.get(&symbol).copied() {
            let row = self.temporary(Width::B64)?;
            self.emit(MicroKind::FrameAddress, row, &[]).imm = i64::from(range.offset).wrapping_add(offset);
            return self.narrowed(Slot { width: Width::B64, index: row }, width);
        }
        let address = self.static_address(symbol)?.wrapping_add_signed(offset);
        self.constant(width, u128::from(address))
    }

    /// The address of a symbol that is the same for every thread: within its space for shared memory and
    /// parameters, absolute for global and constant memory and functions.
    pub(super) fn static_address(&self, symbol: Symbol) -> Result<u64, GuestError> {
        if let Some(offset) = self.shared_offset(symbol) {
            return Ok(u64::from(offset));
        }
        match symbol {
            Symbol::Param(index) => {
                let (offsets, _) = self.at.function.layout();
                Ok(offsets.get(index as usize).copied().unwrap_or(0))
            }
            symbol => {
                let place = place(self.placement, symbol);
                place.ok_or_else(|| self.unsupported("the address of a variable that has no place in memory"))
            }
        }
    }

    /// The row to compute a destination of type `ty` into.
    pub(super) fn destination(&mut self, dst: Option<&Dst>, ty: Type) -> Result<Target, GuestError> {
        let width = ty.width();
        match dst {
            Some(Dst::Reg(reg)) => {
                let slot = self.register(*reg);
                if slot.width == width {
                    return Ok(Target { row: slot.index, widen: None });
                }
                let row = self.temporary(width)?;
                Ok(Target { row, widen: Some((width, slot, ty.is_signed())) })
            }
            Some(Dst::Sink) | None => Ok(Target { row: self.temporary(width)?, widen: None }),
        }
    }

    /// Extends a result that was computed narrower than its register.
    pub(super) fn finish(&mut self, target: &Target) -> Result<(), GuestError> {
        let Some((from, slot, signed)) = target.widen else { return Ok(()) };
        let alu = extension(from, slot.width, signed).ok_or_else(|| self.unsupported("a result of another width"))?;
        self.emit(MicroKind::Alu(alu as u16), slot.index, &[target.row]);
        Ok(())
    }
}

/// The conversion that extends a register.
fn extension(from: Width, to: Width, signed: bool) -> Option<Alu> {
    match (from, to, signed) {
        (Width::B16, Width::B32, false) => Some(Alu::CvtU32U16),
        (Width::B16, Width::B32, true) => Some(Alu::CvtS32S16),
        (Width::B16, Width::B64, false) => Some(Alu::CvtU64U16),
        (Width::B16, Width::B64, true) => Some(Alu::CvtS64S16),
        (Width::B32, Width::B64, false) => Some(Alu::CvtU64U32),
        (Width::B32, Width::B64, true) => Some(Alu::CvtS64S32),
        _ => None,
    }
}
