//! A form: an instruction with the kinds of its operands, as one kernel can execute it.

use isa::op::{Comparison, OperandKind, spelling};
use isa::{Op, Type};

/// An instruction spelled out, with as many results as its rows have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The spelling.
    pub spelling: String,
    /// What it means.
    pub op: Op,
    /// Types of the sources. The carry flag, where it is read, is the last.
    pub sources: Vec<Type>,
    /// Types of the results. The carry flag, where it is written, is the last.
    pub results: Vec<Type>,
}

/// `lop3` takes its table as a constant, not from a register.
pub(super) fn is_immediate(spelling: &str, source: usize) -> bool {
    spelling.starts_with("lop3.") && source == 3
}

impl Form {
    /// The form with this spelling and number of results.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(spelled: &str, results: usize) -> Result<Self, String> {
        let op = spelling::parse(spelled).ok_or_else(|| format!("`{spelled}` is no instruction"))?;
        let signature = op.signature();
        let sources = signature.src.iter().map(|source| scalar(source.kind)).collect::<Option<Vec<Type>>>();
        let results_of = signature.dst.iter().map(|&kind| scalar(kind)).collect::<Option<Vec<Type>>>();
        let both = sources.zip(results_of).filter(|(_, dst)| !dst.is_empty());
        let pure = matches!(op, Op::Alu(_) | Op::Setp(_) | Op::Set(..) | Op::Lop3(_) | Op::Extended(_));
        let (mut sources, mut dst) =
            both.filter(|_| pure).ok_or_else(|| format!("`{spelled}` does not compute a value from values"))?;
        if let Op::Extended(extended) = &op {
            sources.extend(extended.reads.then_some(Type::Pred));
            dst.extend(extended.writes.then_some(Type::Pred));
        }
        if results > dst.len() || results + signature.optional_dst < dst.len() {
            return Err(format!("`{spelled}` has no {results} results"));
        }
        dst.truncate(results);
        Ok(Self { spelling: spelled.to_owned(), op, sources, results: dst })
    }

    /// Whether the carry flag is the last source, and whether it is the last result: no operand names it.
    #[must_use]
    pub fn flags(&self) -> (bool, bool) {
        match &self.op {
            Op::Extended(extended) => (extended.reads, extended.writes),
            _ => (false, false),
        }
    }

    /// The result by the scalar semantics of the instruction table, where the instruction is one line of it.
    #[must_use]
    pub fn eval(&self, operands: &[u128]) -> Option<u128> {
        let bits = match &self.op {
            Op::Alu(form) => form.alu.eval(operands),
            Op::Setp(Comparison { compare, combine: None, pair: false }) if self.results.len() == 1 => {
                compare.alu.eval(operands)
            }
            _ => return None,
        };
        Some(bits)
    }
}

fn scalar(kind: OperandKind) -> Option<Type> {
    match kind {
        OperandKind::Value(ty) | OperandKind::Loose(ty) => Some(ty),
        _ => None,
    }
}

/// What a register of the type's width holds for these bits: those of 8 bits are extended to 16.
pub(super) fn in_register(ty: Type, bits: u128) -> u128 {
    match ty {
        Type::S8 => u128::from(i16::from(bits as i8) as u16),
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_know_their_operands() {
        let form = Form::new("setp.lt.and.s32", 2).unwrap();
        assert_eq!(form.sources, [Type::S32, Type::S32, Type::Pred]);
        assert_eq!(form.results, [Type::Pred, Type::Pred]);
        assert_eq!(Form::new("setp.lt.s32", 1).unwrap().results.len(), 1);
        let carry = Form::new("madc.lo.cc.u64", 2).unwrap();
        assert_eq!((carry.sources.len(), carry.results.as_slice()), (4, &[Type::U64, Type::Pred][..]));
        assert_eq!(Form::new("cvt.s8.f32", 1).unwrap_err(), "`cvt.s8.f32` is no instruction");
        assert_eq!(Form::new("add.s32", 2).unwrap_err(), "`add.s32` has no 2 results");
        assert!(Form::new("ld.global.u32", 1).unwrap_err().contains("does not compute"));
        assert!(Form::new("bar.sync", 1).unwrap_err().contains("does not compute"));
    }
}
