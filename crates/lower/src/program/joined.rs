//! Products that are joined with sums (PTX ISA 9.0, §9.7.3; which are, says [`isa::contraction`]).
//!
//! A product is made and rounded as it is written: its register is a destination like any other. Its two factors stay where
//! they are, or, where something else is written there before the last sum, in rows that no register names. A sum that is joined
//! with it is that of the unrounded product where the register holds the product of these factors, and of what the register
//! holds where it does not: then somebody has changed one of the three, and no multiplier has more digits of it.

use super::Lowering;
use isa::contraction::{Join, Product};
use isa::{Alu, AluForm, Dst, Instruction, Pc, Src, Type, Width};
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
        let sources = self.sources(instruction, form.sources())?;
        let mut factors = self.factors(form, &sources)?;
        for (which, factor) in factors.iter_mut().enumerate() {
            let at = sources.iter().position(|source| source == factor);
            let operand = at.and_then(|at| instruction.src.get(at));
            if matches!(operand, Some(Src::Imm(_))) {
                continue;
            }
            if !operand.is_some_and(|operand| self.stays(operand, *factor, product)) {
                let row = self.row_of_factor(ty.width(), product, which)?;
                self.emit(MicroKind::Alu(copy_of(ty.width()) as u16), row, &[*factor]);
                *factor = row;
            }
            self.hold(Slot { width: ty.width(), index: *factor }, product);
        }
        self.kept_factors.insert(self.at.pc, factors);
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alu(form.alu as u16), target.row, &sources);
        self.finish(&target)
    }

    /// Emits a sum of a product that may be joined with it.
    pub(super) fn joined(&mut self, instruction: &Instruction, form: AluForm, join: Join) -> Result<(), GuestError> {
        let ty = form.destination();
        let kept = self.kept_factors.get(&join.product).copied();
        let [first, second] = kept.ok_or_else(|| self.unsupported("a sum of a product that is not there"))?;
        let terms = self.sources(instruction, form.sources())?;
        let (register, other) = (terms[join.term], terms[1 - join.term]);
        let lines = Lines::of(form).ok_or_else(|| self.unsupported("a sum of this type of a product"))?;
        let first = if join.negated { self.value(lines.negation, ty, &[first])? } else { first };
        let (line, sources) = match at_once(form.alu, join.term) {
            Some(line) => (line, [first, second, other, register]),
            None => {
                let subtracts = form.spelling().starts_with("sub");
                let product = self.value(lines.product, ty, &[first, second])?;
                let intact = self.value(lines.equality, Type::Pred, &[product, register])?;
                let taken_away = subtracts && join.term == 1;
                let first = if taken_away { self.value(lines.negation, ty, &[first])? } else { first };
                let other = if subtracts && join.term == 0 { self.value(lines.negation, ty, &[other])? } else { other };
                let exact = self.value(lines.fused, ty, &[first, second, other])?;
                let rounded = self.value(form.alu, ty, &terms)?;
                (lines.selection, [exact, rounded, intact, 0])
            }
        };
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alu(line as u16), target.row, &sources);
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

    /// Whether the row of a factor holds what it does up to the product's last sum: it is that of a register that nothing
    /// writes meanwhile, the product included.
    fn stays(&self, operand: &Src, row: u16, product: &Product) -> bool {
        let &Src::Reg(register) = operand else { return false };
        // The last sum reads before it writes.
        let between = product.needed_before.split_last().map_or(&[][..], |(_, between)| between);
        let mut writers = between.iter().chain([&self.at.pc]).map(|pc| &self.at.function.body[pc.index()]);
        self.register(register).index == row
            && !writers.any(|writer| writer.writes().any(|(_, written)| written == register))
    }

    /// A row for one of the two factors of a product.
    fn row_of_factor(&mut self, width: Width, product: &Product, which: usize) -> Result<u16, GuestError> {
        let key = (width, product.number, which);
        if let Some(&row) = self.factor_rows.get(&key) {
            return Ok(row);
        }
        let row = self.row(width)?.index;
        self.factor_rows.insert(key, row);
        Ok(row)
    }

    /// What a row holds is needed up to the last sum of a product.
    fn hold(&mut self, slot: Slot, product: &Product) {
        let held = &mut self.program.functions[self.at.index as usize].held;
        for &pc in &product.needed_before {
            held.entry(pc).or_default().push(slot);
        }
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

/// The line of the table that is a joined sum, of which this term is the product; of the types that programs compute with.
fn at_once(sum: Alu, term: usize) -> Option<Alu> {
    Some(match (sum, term) {
        (Alu::AddF32, _) => Alu::JoinedAddF32,
        (Alu::SubF32, 0) => Alu::JoinedSubF32,
        (Alu::SubF32, _) => Alu::JoinedRsubF32,
        (Alu::AddF32Ftz, _) => Alu::JoinedAddF32Ftz,
        (Alu::SubF32Ftz, 0) => Alu::JoinedSubF32Ftz,
        (Alu::SubF32Ftz, _) => Alu::JoinedRsubF32Ftz,
        (Alu::AddF64, 0) => Alu::JoinedAddF64,
        (Alu::AddF64, _) => Alu::JoinedRaddF64,
        (Alu::SubF64, 0) => Alu::JoinedSubF64,
        (Alu::SubF64, _) => Alu::JoinedRsubF64,
        _ => return None,
    })
}

/// The lines of the table that any other joined sum is made of.
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
