//! Operands, and lists of them.

use super::text::put;
use crate::parse::as_spelled;
use isa::op::OperandKind;
use isa::{Base, Dst, Function, Instruction, Module, Op, Reg, Src, Symbol, Type};
use std::fmt::Write as _;

/// Where names are looked up.
#[derive(Clone, Copy)]
pub(super) struct Names<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
}

impl<'m> Names<'m> {
    pub(super) fn register(self, reg: Reg) -> &'m str {
        self.function.registers.get(reg.index()).map_or("_", |register| &register.name)
    }

    pub(super) fn symbol(self, symbol: Symbol) -> &'m str {
        let (variables, index) = match symbol {
            Symbol::Module(index) => (&self.module.variables, index),
            Symbol::Local(index) => (&self.function.variables, index),
            Symbol::Param(index) => (&self.function.params, index),
            Symbol::Return(index) => (&self.function.returns, index),
            Symbol::Function(id) => {
                return self.module.functions.get(id.0 as usize).map_or("_", |function| &function.name);
            }
        };
        variables.get(index as usize).map_or("_", |variable| &variable.name)
    }

    pub(super) fn dst(self, dst: Dst) -> &'m str {
        match dst {
            Dst::Reg(reg) => self.register(reg),
            Dst::Sink => "_",
        }
    }

    /// One source, whose constants are written as this type has them.
    pub(super) fn source(self, out: &mut String, operand: &Src, ty: Type) {
        match operand {
            Src::Reg(reg) => out.push_str(self.register(*reg)),
            Src::Not(reg) => put!(out, "!{}", self.register(*reg)),
            Src::Imm(bits) => constant(out, *bits, ty),
            Src::Special(special) => out.push_str(special.word()),
            Src::Symbol(symbol, offset) => {
                out.push_str(self.symbol(*symbol));
                self.offset(out, *offset);
            }
            Src::Address(Base::Zero, offset) => put!(out, "[{offset}]"),
            Src::Address(base, offset) => {
                let name = match base {
                    Base::Reg(reg) => self.register(*reg),
                    Base::Symbol(symbol) => self.symbol(*symbol),
                    Base::Zero => "",
                };
                put!(out, "[{name}");
                self.offset(out, *offset);
                out.push(']');
            }
        }
    }

    fn offset(self, out: &mut String, offset: i64) {
        if offset != 0 {
            put!(out, "+{offset}");
        }
    }
}

/// A constant of a type.
fn constant(out: &mut String, bits: u64, ty: Type) {
    match ty {
        Type::F32 => put!(out, "0f{:08X}", bits as u32),
        Type::F64 => put!(out, "0d{bits:016X}"),
        Type::S8 => put!(out, "{}", bits as i8),
        Type::S16 => put!(out, "{}", bits as i16),
        Type::S32 => put!(out, "{}", bits as i32),
        Type::S64 => put!(out, "{}", bits as i64),
        _ => put!(out, "{bits}"),
    }
}

/// The operands of an instruction that is described by its signature.
pub(super) fn by_signature(out: &mut String, names: Names<'_>, instruction: &Instruction, spelling: &str) {
    let signature = instruction.op.signature();
    let mut list = List { out, first: true };
    match (signature.dst.first(), instruction.dst.as_slice()) {
        (_, []) => {}
        (Some(OperandKind::Vector(..)), dst) => {
            let dst: Vec<&str> = dst.iter().map(|&dst| names.dst(dst)).collect();
            put!(list.next(), "{{{}}}", dst.join(", "));
        }
        (_, [first, rest @ ..]) => {
            let out = list.next();
            out.push_str(names.dst(*first));
            rest.iter().for_each(|&dst| put!(out, "|{}", names.dst(dst)));
        }
    }
    let mut src = instruction.src.iter();
    let kinds = signature.src.iter().map(|source| source.kind).filter(|kind| *kind != OperandKind::Label);
    for (index, kind) in kinds.enumerate() {
        match as_spelled(spelling, &instruction.op, index, kind) {
            OperandKind::Vector(ty, count) => vector(list.next(), names, src.by_ref().take(count.into()), ty),
            OperandKind::Texel { .. } => texel(list.next(), names, kind.parts(), src.by_ref()),
            OperandKind::Value(ty) | OperandKind::Loose(ty) => {
                if let Some(operand) = src.next() {
                    names.source(list.next(), operand, ty);
                }
            }
            OperandKind::Address | OperandKind::Label => {
                if let Some(operand) = src.next() {
                    names.source(list.next(), operand, Type::B64);
                }
            }
        }
    }
}

/// `[object, {a, b}]`
fn texel<'o>(out: &mut String, names: Names<'_>, kinds: Vec<OperandKind>, operands: impl Iterator<Item = &'o Src>) {
    out.push('[');
    for (index, (kind, operand)) in kinds.into_iter().zip(operands).enumerate() {
        out.push_str(["", ", {", ", "][index.min(2)]);
        let OperandKind::Value(ty) = kind else { continue };
        names.source(out, operand, ty);
    }
    out.push_str("}]");
}

/// `{a, b}`
pub(super) fn vector<'o>(out: &mut String, names: Names<'_>, operands: impl Iterator<Item = &'o Src>, ty: Type) {
    out.push('{');
    let mut list = List { out, first: true };
    for operand in operands {
        list.push(names, operand, ty);
    }
    out.push('}');
}

/// `mov.b64 d, {a, b}` and `mov.b64 {a, b}, d`
pub(super) fn vector_move(out: &mut String, names: Names<'_>, instruction: &Instruction, ty: Type) {
    out.push(' ');
    if let [dst] = instruction.dst.as_slice() {
        put!(out, "{}, ", names.dst(*dst));
        let bits = ty.bits() as usize / instruction.src.len().max(1);
        vector(out, names, instruction.src.iter(), integer(bits));
    } else {
        let dst: Vec<&str> = instruction.dst.iter().map(|&dst| names.dst(dst)).collect();
        put!(out, "{{{}}}, ", dst.join(", "));
        instruction.src.iter().for_each(|operand| names.source(out, operand, ty));
    }
}

fn integer(bits: usize) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        _ => Type::B64,
    }
}

/// Operands with commas between them, and a space before the first.
struct List<'o> {
    out: &'o mut String,
    first: bool,
}

impl List<'_> {
    fn next(&mut self) -> &mut String {
        self.out.push_str(if self.first { " " } else { ", " });
        self.first = false;
        self.out
    }

    fn push(&mut self, names: Names<'_>, operand: &Src, ty: Type) {
        if !self.first {
            self.out.push_str(", ");
        }
        self.first = false;
        names.source(self.out, operand, ty);
    }
}

/// Whether the operands of an operation are described by its signature.
pub(super) fn has_signature(op: &Op) -> bool {
    !matches!(op, Op::MovVector(_) | Op::Call(_) | Op::Bra { .. } | Op::BrxIdx { .. } | Op::Barrier(_))
}
