//! Comparisons: `setp` and `set`, of numbers and of pairs; `lop3` where it compares with zero.

use super::Lowering;
use isa::op::{Combine, Comparison};
use isa::{Alu, Dst, Instruction, Type, Width};
use simt::GuestError;
use simt::program::{MicroKind, PredOp};

/// What a comparison is combined with: the row of the third source.
type Third = Option<(PredOp, u16)>;

impl Lowering<'_> {
    pub(super) fn setp(&mut self, instruction: &Instruction, comparison: Comparison) -> Result<(), GuestError> {
        let first = self.destination(instruction.dst.first(), Type::Pred)?.row;
        let second = match instruction.dst.get(1) {
            Some(Dst::Reg(reg)) => Some(self.register(*reg).index),
            _ => None,
        };
        let third = self.third(instruction, comparison)?;
        if second.is_none() && third.is_none() && !comparison.pair {
            let rows = self.sources(instruction, &comparison.types())?;
            self.emit(MicroKind::Alu(comparison.compare.alu as u16), first, &rows);
            return Ok(());
        }
        let (p, half) = self.compare(instruction, comparison)?;
        // All is computed from the sources as they were before the first destination is written.
        let q = match (second, half) {
            (None, _) => None,
            (Some(second), Some(high)) => Some((second, high)),
            (Some(second), None) => {
                let not = self.temporary(Width::Pred)?;
                self.emit(MicroKind::Pred(PredOp::Not), not, &[p, 0]);
                Some((second, not))
            }
        };
        if let Some((_, q)) = q {
            self.join(third, q, q);
        }
        self.join(third, p, first);
        if let Some((second, q)) = q {
            self.join(None, q, second);
        }
        Ok(())
    }

    pub(super) fn set(
        &mut self,
        instruction: &Instruction,
        comparison: Comparison,
        to: Type,
    ) -> Result<(), GuestError> {
        let third = self.third(instruction, comparison)?;
        let target = self.destination(instruction.dst.first(), to)?;
        let (low, high) = self.compare(instruction, comparison)?;
        self.join(third, low, low);
        let yes = match to {
            Type::F32 => u128::from(1.0f32.to_bits()),
            Type::F16 | Type::F16x2 => 0x3c00,
            Type::Bf16 | Type::Bf16x2 => 0x3f80,
            _ if high.is_some() => 0xffff,
            _ => u128::from(u32::MAX),
        };
        let select = if to.width() == Width::B16 { Alu::SelpB16 } else { Alu::SelpB32 };
        let (one, zero) = (self.constant(to.width(), yes)?, self.constant(to.width(), 0)?);
        self.emit(MicroKind::Alu(select as u16), target.row, &[one, zero, low]);
        if let Some(high) = high {
            self.join(third, high, high);
            let one = self.constant(Width::B32, yes << 16)?;
            let upper = self.temporary(Width::B32)?;
            self.emit(MicroKind::Alu(Alu::SelpB32 as u16), upper, &[one, zero, high]);
            self.emit(MicroKind::Alu(Alu::OrB32 as u16), target.row, &[target.row, upper]);
        }
        self.finish(&target)
    }

    pub(super) fn lop3(&mut self, instruction: &Instruction, combine: Combine) -> Result<(), GuestError> {
        let rows = self.sources(instruction, &[Type::B32; 4])?;
        let third = instruction.src.get(4).map(|operand| self.source(operand, Type::Pred)).transpose()?;
        let result = self.destination(instruction.dst.first(), Type::B32)?;
        let holds = self.destination(instruction.dst.get(1), Type::Pred)?.row;
        self.emit(MicroKind::Alu(Alu::Lop3B32 as u16), result.row, &rows);
        let (zero, some) = (self.constant(Width::B32, 0)?, self.temporary(Width::Pred)?);
        self.emit(MicroKind::Alu(Alu::SetpNeB32 as u16), some, &[result.row, zero]);
        self.join(third.map(|row| (pred_op(combine), row)), some, holds);
        self.finish(&result)
    }

    /// Compares into rows of this instruction alone; the second is that of the high half of a pair.
    fn compare(&mut self, instruction: &Instruction, comparison: Comparison) -> Result<(u16, Option<u16>), GuestError> {
        let rows = self.sources(instruction, &comparison.types())?;
        let line = MicroKind::Alu(comparison.compare.alu as u16);
        let low = self.temporary(Width::Pred)?;
        if !comparison.pair {
            self.emit(line, low, &rows);
            return Ok((low, None));
        }
        let halves = rows.iter().map(|&row| self.halves(row)).collect::<Result<Vec<_>, _>>()?;
        self.emit(line, low, &[halves[0].0, halves[1].0]);
        let high = self.temporary(Width::Pred)?;
        self.emit(line, high, &[halves[0].1, halves[1].1]);
        Ok((low, Some(high)))
    }

    /// The low and the high half of a row.
    fn halves(&mut self, row: u16) -> Result<(u16, u16), GuestError> {
        let (low, high, shifted) =
            (self.temporary(Width::B16)?, self.temporary(Width::B16)?, self.temporary(Width::B32)?);
        self.emit(MicroKind::Alu(Alu::CvtU16U32 as u16), low, &[row]);
        let by = self.constant(Width::B32, 16)?;
        self.emit(MicroKind::Alu(Alu::ShrU32 as u16), shifted, &[row, by]);
        self.emit(MicroKind::Alu(Alu::CvtU16U32 as u16), high, &[shifted]);
        Ok((low, high))
    }

    fn third(&mut self, instruction: &Instruction, comparison: Comparison) -> Result<Third, GuestError> {
        let (Some(combine), Some(operand)) = (comparison.combine, instruction.src.get(2)) else { return Ok(None) };
        Ok(Some((pred_op(combine), self.source(operand, Type::Pred)?)))
    }

    /// Writes a result, combined with the third source if there is one.
    fn join(&mut self, third: Third, row: u16, into: u16) {
        let (op, other) = third.unwrap_or((PredOp::Or, row));
        self.emit(MicroKind::Pred(op), into, &[row, other]);
    }
}

fn pred_op(combine: Combine) -> PredOp {
    match combine {
        Combine::And => PredOp::And,
        Combine::Or => PredOp::Or,
        Combine::Xor => PredOp::Xor,
    }
}
