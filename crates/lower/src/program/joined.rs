//! Products that are joined with sums (PTX ISA 9.0, §9.7.3; which are, says [`isa::contraction`]).
//!
//! A product is made and rounded as it is written: its register is a destination like any other. Beside it stay its two
//! factors, in rows that no register names. A sum that is joined with it is that of the unrounded product where the register
//! still holds the product of these factors, and of what the register holds where it does not: that is a value that
//! somebody has changed, which no multiplier has more digits of.

use super::Lowering;
use isa::contraction::{Join, Product};
use isa::{Alu, AluForm, Dst, Instruction, Pc, Type, Width};
use simt::GuestError;
use simt::program::MicroKind;
use simt::registers::Slot;

use super::memory::copy_of;

/// 2⁻¹²⁶, the least normal number: quotients by less are computed of both, times 2²⁴.
const TINY: u128 = 0x0080_0000;
const UP: u128 = 0x4b80_0000;
/// 2¹²⁶: reciprocals of more are computed of a quarter.
const LARGE: u128 = 0x7e80_0000;
const QUARTER: u128 = 0x3e80_0000;
const ONE: u128 = 0x3f80_0000;

impl Lowering<'_> {
    /// Emits a product of which the factors are kept.
    pub(super) fn product(
        &mut self,
        instruction: &Instruction,
        form: AluForm,
        product: &Product,
    ) -> Result<(), GuestError> {
        let ty = form.destination();
        let [first, second] = self.factor_rows(ty.width(), product)?;
        let sources = self.sources(instruction, form.sources())?;
        let factors = self.factors(form, &sources)?;
        let copy = MicroKind::Alu(copy_of(ty.width()) as u16);
        // The product may replace a source.
        self.emit(copy, first, &[factors[0]]);
        self.emit(copy, second, &[factors[1]]);
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alu(form.alu as u16), target.row, &sources);
        self.finish(&target)
    }

    /// Emits a sum of a product that may be joined with it.
    pub(super) fn joined(&mut self, instruction: &Instruction, form: AluForm, join: Join) -> Result<(), GuestError> {
        let (ty, subtracts) = (form.destination(), form.spelling().starts_with("sub"));
        let lines = Lines::of(form).ok_or_else(|| self.unsupported("a sum of this type of a product"))?;
        let [first, second] = self.kept_factors(ty.width(), join)?;
        let terms = self.sources(instruction, form.sources())?;
        let (register, other) = (terms[join.term], terms[1 - join.term]);
        let product = self.value(lines.product, ty, &[first, second])?;
        let product = if join.negated { self.value(lines.negation, ty, &[product])? } else { product };
        let intact = self.value(lines.equality, Type::Pred, &[product, register])?;
        let taken_away = subtracts && join.term == 1;
        let first = if join.negated != taken_away { self.value(lines.negation, ty, &[first])? } else { first };
        let other = if subtracts && join.term == 0 { self.value(lines.negation, ty, &[other])? } else { other };
        let exact = self.value(lines.fused, ty, &[first, second, other])?;
        let rounded = self.value(form.alu, ty, &terms)?;
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alu(lines.selection as u16), target.row, &[exact, rounded, intact]);
        self.finish(&target)
    }

    /// A line of the table into a row of this instruction alone.
    fn value(&mut self, line: Alu, ty: Type, sources: &[u16]) -> Result<u16, GuestError> {
        let row = self.temporary(ty.width())?;
        self.emit(MicroKind::Alu(line as u16), row, sources);
        Ok(row)
    }

    fn single(&mut self, line: Alu, sources: &[u16]) -> Result<u16, GuestError> {
        self.value(line, line.destination(), sources)
    }

    /// What is multiplied at the end of a product: its sources, or what a quotient and a reciprocal make of them.
    fn factors(&mut self, form: AluForm, sources: &[u16]) -> Result<[u16; 2], GuestError> {
        let reciprocal = Alu::RcpApproxF32Ftz;
        let (scaling, divisor) = match form.alu {
            Alu::DivApproxF32Ftz => return Ok([sources[0], self.single(reciprocal, &[sources[1]])?]),
            Alu::RcpApproxF32 => (Alu::MulF32, sources[0]),
            Alu::DivApproxF32 | Alu::DivFullF32 => (Alu::MulF32, sources[1]),
            Alu::DivFullF32Ftz => (Alu::MulF32Ftz, sources[1]),
            _ => return Ok([sources[0], sources[1]]),
        };
        let scale = self.scale(form, divisor)?;
        let scaled = self.single(scaling, &[divisor, scale])?;
        let reciprocal = self.single(reciprocal, &[scaled])?;
        let dividend = if sources.len() == 1 { scale } else { self.single(scaling, &[sources[0], scale])? };
        Ok([dividend, reciprocal])
    }

    /// By what both parts of a quotient are multiplied before it is made.
    fn scale(&mut self, form: AluForm, divisor: u16) -> Result<u16, GuestError> {
        let magnitude = self.single(Alu::AbsF32, &[divisor])?;
        let mut scale = self.constant(Width::B32, ONE)?;
        if form.alu != Alu::DivFullF32Ftz {
            let (tiny, up) = (self.constant(Width::B32, TINY)?, self.constant(Width::B32, UP)?);
            let is_tiny = self.single(Alu::SetpLtF32, &[magnitude, tiny])?;
            scale = self.single(Alu::SelpB32, &[up, scale, is_tiny])?;
        }
        if form.alu != Alu::DivApproxF32 {
            let (large, quarter) = (self.constant(Width::B32, LARGE)?, self.constant(Width::B32, QUARTER)?);
            let is_large = self.single(Alu::SetpGtF32, &[magnitude, large])?;
            scale = self.single(Alu::SelpB32, &[quarter, scale, is_large])?;
        }
        Ok(scale)
    }

    /// The rows for the factors of a product, which are live from there to its last sum.
    fn factor_rows(&mut self, width: Width, product: &Product) -> Result<[u16; 2], GuestError> {
        let rows = match self.factor_rows.get(&(width, product.number)) {
            Some(&rows) => rows,
            None => [self.row(width)?.index, self.row(width)?.index],
        };
        self.factor_rows.insert((width, product.number), rows);
        let held = &mut self.program.functions[self.at.index as usize].held;
        for &pc in &product.needed_before {
            held.entry(pc).or_default().extend(rows.map(|index| Slot { width, index }));
        }
        Ok(rows)
    }

    fn kept_factors(&self, width: Width, join: Join) -> Result<[u16; 2], GuestError> {
        let product = self.contraction.products.get(&join.product);
        let rows = product.and_then(|product| self.factor_rows.get(&(width, product.number)));
        rows.copied().ok_or_else(|| self.unsupported("a sum of a product that is not there"))
    }

    /// What an instruction is joined with, if anything.
    pub(super) fn contracted(
        &mut self,
        instruction: &Instruction,
        form: AluForm,
        pc: Pc,
    ) -> Option<Result<(), GuestError>> {
        if !matches!(instruction.dst.first(), Some(Dst::Reg(_))) {
            return None;
        }
        if let Some(&join) = self.contraction.sums.get(&pc) {
            return Some(self.joined(instruction, form, join));
        }
        let product = self.contraction.products.get(&pc)?.clone();
        Some(self.product(instruction, form, &product))
    }
}

/// The lines of the table that a joined sum is made of.
struct Lines {
    product: Alu,
    fused: Alu,
    negation: Alu,
    equality: Alu,
    selection: Alu,
}

impl Lines {
    /// Those for a sum.
    fn of(sum: AluForm) -> Option<Self> {
        let (_, modifiers) = sum.spelling().split_once('.')?;
        let ty = modifiers.rsplit('.').next()?;
        let line = |spelling: String| Some(AluForm::from_spelling(&spelling)?.alu);
        let bits = sum.destination().width().bits();
        Some(Self {
            product: line(format!("mul.{}", modifiers.replace("sat.", "")))?,
            fused: line(format!("fma.rn.{modifiers}"))?,
            negation: line(format!("neg.{ty}"))?,
            equality: line(format!("setp.eq.b{bits}"))?,
            selection: line(format!("selp.b{bits}"))?,
        })
    }
}
