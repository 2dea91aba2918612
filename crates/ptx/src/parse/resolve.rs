//! Operands as the instruction set has them: names found, widths checked, constants turned into bits.

use super::body::Body;
use super::cursor::Name;
use super::operand::{Raw, RawKind};
use super::outline::Global;
use super::scope::Entity;
use super::suggest;
use crate::error::{Diagnostic, Parsed, Span};
use isa::op::OperandKind;
use isa::{Base, Dst, FunctionId, Op, Reg, Special, Src, Symbol, Type, Width};

/// What an operand is needed for, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need<'s> {
    pub(super) spelling: &'s str,
    pub(super) kind: OperandKind,
    /// Whether special registers may stand there.
    pub(super) special: bool,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Register(Reg),
    Symbol(Symbol),
    Special(Special),
}

impl<'a> Body<'a, '_> {
    /// What a name means here.
    pub(super) fn meaning(&mut self, name: Name<'a>) -> Parsed<Meaning> {
        match self.scopes.find(name.text) {
            Some(Entity::Register(reg)) => return Ok(Meaning::Register(reg)),
            Some(Entity::Symbol(symbol)) => return Ok(Meaning::Symbol(symbol)),
            Some(_) => {
                return Err(Diagnostic::new(name.span, format!("the address of `{}` is not supported", name.text))
                    .help("a label can only be branched to"));
            }
            None => {}
        }
        if let Some(special) = Special::from_word(name.text) {
            return Ok(Meaning::Special(special));
        }
        match self.outline.names.get(name.text) {
            Some(&Global::Variable(index)) => Ok(Meaning::Symbol(Symbol::Module(index))),
            Some(&Global::Function(id)) => Ok(Meaning::Symbol(Symbol::Function(id))),
            None => Err(self.undeclared(name)),
        }
    }

    fn undeclared(&self, name: Name<'a>) -> Box<Diagnostic> {
        if suggest::is_special(name.text) {
            return Diagnostic::new(name.span, format!("the special register `{}` is not supported", name.text))
                .help(suggest::REFUSED);
        }
        let mistake = Diagnostic::new(name.span, format!("`{}` is not declared", name.text));
        match self.scopes.near_range(name.text) {
            Some(range) => mistake.help(range),
            None if name.text.starts_with('%') => mistake.help("declare the register with `.reg`"),
            None => mistake.help("no register, variable or function in sight has this name"),
        }
    }

    /// The function of this name.
    pub(super) fn function(&self, name: Name<'a>) -> Parsed<FunctionId> {
        match self.outline.names.get(name.text) {
            Some(&Global::Function(id)) => Ok(id),
            _ => Err(Diagnostic::new(name.span, format!("the function `{}` is not declared", name.text))
                .help("declare it before the first use, for example with `.extern .func`")),
        }
    }

    /// The type that a register was declared with.
    pub(super) fn register_type(&self, reg: Reg) -> Type {
        self.scopes.registers[reg.index()].ty
    }

    /// Checks that a register is as wide as the instruction needs.
    fn fits(&self, reg: Reg, name: Name<'_>, need: Need<'_>, verb: &str) -> Parsed<Reg> {
        let declared = self.register_type(reg);
        let (ty, loose) = match need.kind {
            OperandKind::Loose(ty) | OperandKind::Vector(ty, _) => (ty, true),
            OperandKind::Value(ty) => (ty, false),
            OperandKind::Address | OperandKind::Texel { .. } | OperandKind::Label => (Type::B64, false),
        };
        let fits = if loose {
            (declared == Type::Pred) == (ty == Type::Pred) && declared.width() >= ty.width()
        } else {
            declared.width() == ty.width()
        };
        if fits {
            return Ok(reg);
        }
        let (register, spelling) = (name.text, need.spelling);
        let help = match (loose, declared == Type::Pred, ty == Type::Pred) {
            (_, true, false) => "turn a predicate into a number with `selp`".to_owned(),
            (_, false, true) => "turn a number into a predicate with `setp`".to_owned(),
            (true, ..) => "here the register may be wider than the value, but not narrower".to_owned(),
            _ => format!("use a register of {} bits, or `cvt` first", ty.width().bits()),
        };
        Err(Diagnostic::new(name.span, format!("`{register}` is .{declared} but `{spelling}` {verb} .{ty} here"))
            .label(format!("declared .{declared}"))
            .help(help))
    }

    /// A destination. `sink` says whether the result may be dropped there.
    pub(super) fn destination(&mut self, raw: &Raw<'a>, need: Need<'_>, sink: bool) -> Parsed<Dst> {
        match &raw.kind {
            RawKind::Sink if sink => Ok(Dst::Sink),
            RawKind::Sink => {
                Err(Diagnostic::new(raw.span, format!("the result of `{}` cannot be dropped here", need.spelling))
                    .help("name a register"))
            }
            &RawKind::Name(name, 0) => match self.meaning(name)? {
                Meaning::Register(reg) => self.fits(reg, name, need, "writes").map(Dst::Reg),
                _ => Err(Diagnostic::new(raw.span, format!("`{}` cannot be written", name.text))
                    .help("the destination is a register")),
            },
            RawKind::Vector(_) => {
                Err(Diagnostic::new(raw.span, format!("`{}` writes no vector", need.spelling))
                    .help("name one register"))
            }
            _ => Err(Diagnostic::new(raw.span, format!("`{}` cannot write to this", need.spelling))
                .help("the destination is a register")),
        }
    }

    /// A source.
    pub(super) fn source(&mut self, raw: &Raw<'a>, need: Need<'_>) -> Parsed<Src> {
        let (OperandKind::Value(ty) | OperandKind::Loose(ty)) = need.kind else {
            return self.address(raw, need.spelling);
        };
        match &raw.kind {
            &RawKind::Name(name, offset) => match self.meaning(name)? {
                Meaning::Register(reg) if offset == 0 => self.fits(reg, name, need, "reads").map(Src::Reg),
                Meaning::Symbol(symbol) => symbol_value(symbol, offset, ty, raw.span, need.spelling),
                Meaning::Special(special) if offset == 0 => special_value(special, ty, name, need),
                _ => Err(Diagnostic::new(raw.span, "a register with an offset stands outside of an address")
                    .help("add the offset with an `add` instruction")),
            },
            &RawKind::Not(name) => self.complement(name, need),
            RawKind::Constant(constant) => constant.bits(ty, raw.span).map(Src::Imm),
            RawKind::Address(..) | RawKind::Texel(..) => {
                Err(Diagnostic::new(raw.span, format!("`{}` reads no memory here", need.spelling))
                    .help("load it first"))
            }
            RawKind::Vector(_) => {
                Err(Diagnostic::new(raw.span, format!("`{}` reads no vector here", need.spelling))
                    .help("name one value"))
            }
            RawKind::Pair(_) => Err(Diagnostic::new(raw.span, "a pair stands where a value is read")
                .help("only the destinations of `setp`, `shfl` and `match` are pairs")),
            RawKind::Sink => Err(Diagnostic::new(raw.span, "`_` has no value").help("name a register")),
        }
    }

    /// The register that names a texture or surface.
    pub(super) fn object(&mut self, name: Name<'a>, need: Need<'_>) -> Parsed<Src> {
        match self.meaning(name)? {
            Meaning::Register(reg) => self.fits(reg, name, need, "reads").map(Src::Reg),
            _ => Err(Diagnostic::new(name.span, format!("`{}` is no texture or surface object", name.text))
                .help("references by name are not supported; load the object into a register")),
        }
    }

    fn complement(&mut self, name: Name<'a>, need: Need<'_>) -> Parsed<Src> {
        match self.meaning(name)? {
            Meaning::Register(reg) => self.fits(reg, name, need, "reads").and_then(|reg| {
                if self.register_type(reg) == Type::Pred {
                    return Ok(Src::Not(reg));
                }
                Err(Diagnostic::new(name.span, format!("`{}` is no predicate", name.text))
                    .help("only predicates have a complement; use a `not` instruction"))
            }),
            _ => Err(Diagnostic::new(name.span, format!("`{}` is no predicate", name.text))),
        }
    }

    /// The address of a load, a store or an atomic access.
    fn address(&mut self, raw: &Raw<'a>, spelling: &str) -> Parsed<Src> {
        let &RawKind::Address(base, offset) = &raw.kind else {
            return Err(Diagnostic::new(raw.span, format!("`{spelling}` needs an address here"))
                .help("write the address in brackets, for example `[%rd1+8]`"));
        };
        let Some(name) = base else { return Ok(Src::Address(Base::Zero, offset)) };
        let base = match self.meaning(name)? {
            Meaning::Register(reg) => match self.register_type(reg).width() {
                Width::B32 | Width::B64 => Base::Reg(reg),
                _ => {
                    let declared = self.register_type(reg);
                    return Err(Diagnostic::new(
                        name.span,
                        format!("`{}` is .{declared}, too narrow for an address", name.text),
                    )
                    .help("addresses have 64 bits, in shared and local memory also 32"));
                }
            },
            Meaning::Symbol(Symbol::Function(_)) => {
                return Err(Diagnostic::new(name.span, format!("`{}` is a function, not memory", name.text)));
            }
            Meaning::Symbol(symbol) => Base::Symbol(symbol),
            Meaning::Special(_) => {
                return Err(
                    Diagnostic::new(name.span, "a special register is no address").help("move it to a register")
                );
            }
        };
        Ok(Src::Address(base, offset))
    }
}

fn symbol_value(symbol: Symbol, offset: i64, ty: Type, span: Span, spelling: &str) -> Parsed<Src> {
    if ty.is_float() || !matches!(ty.bits(), 32 | 64) {
        return Err(Diagnostic::new(span, format!("an address stands where `{spelling}` reads .{ty}"))
            .help("addresses have 64 bits, in shared and local memory also 32"));
    }
    Ok(Src::Symbol(symbol, offset))
}

fn special_value(special: Special, ty: Type, name: Name<'_>, need: Need<'_>) -> Parsed<Src> {
    if !need.special {
        return Err(Diagnostic::new(name.span, format!("`{}` cannot read a special register", need.spelling))
            .help(format!("read it first: `mov.u{} %r, {special}`", special.width().bits())));
    }
    if ty.bits() > special.width().bits() || ty.is_float() {
        return Err(Diagnostic::new(
            name.span,
            format!("`{special}` has {} bits but `{}` reads .{ty} here", special.width().bits(), need.spelling),
        )
        .help(format!("use `mov.u{}`", special.width().bits())));
    }
    Ok(Src::Special(special))
}

/// Whether an operation may read special registers.
pub(super) fn reads_special(op: &Op) -> bool {
    match op {
        Op::Alu(form) => isa::op::is_move(form.alu) || form.alu.class() == isa::AluClass::Convert,
        _ => false,
    }
}
