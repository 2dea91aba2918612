//! What a loaded value is: what the load says and, where that leaves something open, what is done with the value.
//!
//! The uses are read off the code, forwards from the loaded register through moves and choices, over all readers of a
//! register whatever the order of control. A float among them decides; a signed instruction decides on the sign.

use super::evidence::{MOST, Stored, ValueOrigin};
use facts::{Facts, Operand, Reg, ResultKind, Role, Type};
use simt::Program;
use simt::program::FunctionCode;
use std::collections::{BTreeMap, BTreeSet};

/// The instructions of a function by the registers that they read.
pub(super) struct Uses<'p> {
    code: &'p FunctionCode,
    by_register: BTreeMap<Reg, Vec<&'p Facts>>,
}

impl<'p> Uses<'p> {
    pub(super) fn of(program: &'p Program, code: &'p FunctionCode) -> Self {
        let mut by_register: BTreeMap<Reg, Vec<&Facts>> = BTreeMap::new();
        for facts in program.body(code.id) {
            let mut read: Vec<Reg> = facts.of_role(Role::Source).map(|source| source.register).collect();
            read.sort_unstable();
            read.dedup();
            read.into_iter().for_each(|register| by_register.entry(register).or_default().push(facts));
        }
        Self { code, by_register }
    }

    /// What an instruction loads as this type.
    pub(super) fn loaded(&self, ty: Type, facts: &Facts) -> Stored {
        let used = facts.writes().map(|value| self.used(value, ty)).max().unwrap_or(ValueOrigin::Unknown);
        Stored::made(used, ty)
    }

    /// What the uses of a register show that is loaded as this type.
    fn used(&self, value: Reg, ty: Type) -> ValueOrigin {
        let (mut seen, mut left, mut found) = (BTreeSet::from([value]), vec![value], ValueOrigin::Unknown);
        while let Some(register) = left.pop() {
            for facts in self.by_register.get(&register).into_iter().flatten().take(MOST) {
                for operand in facts.operands.iter().filter(|operand| operand.register == register) {
                    found = found.max(shown(facts, operand, ty));
                }
                left.extend(self.through(facts, register, ty).filter(|&next| seen.len() < MOST && seen.insert(next)));
            }
        }
        found
    }

    /// The registers that hold the bits of a register, or a part of them, after an instruction that reads it.
    fn through<'i>(&'i self, facts: &'i Facts, register: Reg, ty: Type) -> impl Iterator<Item = Reg> + 'i {
        let numbers = |operand: &Operand| operand.ty.is_some_and(Type::is_float);
        let source = facts.of_role(Role::Source).find(|source| source.register == register);
        let packs = facts.making == ResultKind::Packed;
        let follows = (packs || facts.making == ResultKind::Bits) && source.is_some_and(|source| !numbers(source));
        let bits = move |register: Reg| self.code.declared[register.index()].width().bits();
        let fits =
            move |next: Reg| bits(next) > 1 && (bits(next) == ty.width().bits() || (packs && bits(next) < ty.bits()));
        // A conversion between integers and floats makes something else of the bits.
        let written = facts.of_role(Role::Destination).filter(move |written| follows && !numbers(written));
        written.map(|written| written.register).filter(move |&next| fits(next))
    }
}

/// What an instruction shows of a value that is loaded as `ty`, by the type that it gives to an operand.
fn shown(facts: &Facts, operand: &Operand, ty: Type) -> ValueOrigin {
    match (operand.role, operand.ty) {
        (Role::Destination, _) => ValueOrigin::Unknown,
        (Role::Address, _) => ValueOrigin::Integer,
        (_, Some(read)) if read.is_float() && read.bits() <= ty.bits() && ty.bits().is_multiple_of(read.bits()) => {
            ValueOrigin::Float(read)
        }
        (_, Some(read)) if read.is_signed() && read.bits() == ty.bits() => ValueOrigin::Signed,
        (_, Some(read)) if !read.is_float() && read.bits() == ty.bits() => match facts.making {
            ResultKind::Integers | ResultKind::Parts => ValueOrigin::Integer,
            _ => ValueOrigin::Unknown,
        },
        _ => ValueOrigin::Unknown,
    }
}
