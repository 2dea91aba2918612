//! What is known of an instruction of PTX.

use crate::{place, sets};
use facts::{Access, Control, Effect, Facts, Files, Making, Operand, Reg, Role, Source, Type};
use isa::op::matrix::Matrix;
use isa::op::{AtomOp, CopyAsync, MbarrierOp, OperandKind, SourceRole};
use isa::{Base, Class, Dst, Function, Instruction, Op, Operand as Written, Symbol};
use simt::guest::Placement;
use simt::program::FrameRange;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tells the facts of a function's instructions.
pub(crate) struct Teller<'a> {
    pub(crate) function: &'a Function,
    pub(crate) files: &'a Arc<Files>,
    pub(crate) placement: &'a Placement,
    /// What a call of the function has of its own.
    pub(crate) frame: &'a BTreeMap<Symbol, FrameRange>,
}

impl Teller<'_> {
    /// The facts of an instruction.
    pub(crate) fn facts(&self, instruction: &Instruction) -> Facts {
        let op = &instruction.op;
        let mut facts = Facts {
            guard: instruction.guard,
            operands: self.operands(instruction),
            making: making(op),
            control: self.control(op),
            access: self.access(instruction),
            stores: stores(op),
            source: instruction.loc.clone().map(|loc| Source { loc, files: Arc::clone(self.files) }),
            ..Facts::new(op.spelling(), op.group())
        };
        facts.sets = sets::of(op, &facts);
        facts
    }

    fn operands(&self, instruction: &Instruction) -> Vec<Operand> {
        let shape = instruction.op.shape();
        let mut operands = Vec::with_capacity(instruction.dst.len() + 2 * instruction.src.len());
        let mut kinds = shape.dst.iter().flat_map(|kind| kind.parts());
        for (dst, position) in instruction.dst.iter().zip(0..) {
            let ty = kinds.next().and_then(OperandKind::ty);
            if let Dst::Reg(register) = dst {
                operands.push(self.operand(Role::Destination, position, *register, ty));
            }
        }
        let destinations = operands.len();
        let mut parts = shape.source_parts();
        let (mut addresses, mut stored) = (0, 0);
        for (source, position) in instruction.src.iter().zip(0..) {
            let part = parts.next();
            let ty = part.and_then(|part| part.kind.ty());
            if let Some(register) = source.register()
                && !operands[destinations..].iter().any(|it| it.role == Role::Source && it.register == register)
            {
                operands.push(self.operand(Role::Source, position, register, ty));
            }
            match (part.map(|part| part.role), source) {
                (Some(SourceRole::Address), Written::Address(base, offset)) => {
                    if let Base::Reg(register) = base {
                        let whole = self.operand(Role::Address, addresses, *register, None);
                        operands.push(Operand { offset: *offset, ..whole });
                    }
                    addresses += 1;
                }
                (Some(SourceRole::Stored), source) => {
                    if let Written::Reg(register) = source {
                        let whole = self.operand(Role::Stored, stored, *register, ty);
                        operands.push(Operand { bits: ty.map_or(whole.bits, |ty| ty.bits().min(whole.bits)), ..whole });
                    }
                    stored += 1;
                }
                _ => {}
            }
        }
        operands
    }

    /// A whole register as an operand.
    fn operand(&self, role: Role, position: u8, register: Reg, ty: Option<Type>) -> Operand {
        let bits = self.function.register(register).width().bits();
        Operand { role, position, register, bits, offset: 0, ty }
    }

    fn control(&self, op: &Op) -> Control {
        match op {
            Op::Bra { target, .. } => Control::Jump([*target].into()),
            Op::BrxIdx { targets, .. } => Control::Jump(targets.as_slice().into()),
            Op::Call(_) => Control::Call,
            Op::Ret { .. } if !self.function.kernel => Control::Return,
            Op::Ret { .. } | Op::Exit => Control::End,
            Op::Trap => Control::Trap,
            _ => Control::Next,
        }
    }

    fn access(&self, instruction: &Instruction) -> Option<Access> {
        let of = |effect, space, element, count| {
            let at = instruction.src.first().and_then(|source| self.address(source));
            Some(Access { effect, space, element, count, at })
        };
        match &instruction.op {
            Op::Ld(it) => of(Effect::Read, it.space, it.ty, it.vector),
            Op::St(it) => of(Effect::Write, it.space, it.ty, it.vector),
            Op::Atom(it) | Op::Red(it) => of(Effect::Update, it.space, it.ty, it.vector),
            _ => None,
        }
    }

    /// Where an address points, if it does not point into the frame of the function.
    fn address(&self, source: &Written) -> Option<(Option<Reg>, i64)> {
        match source {
            Written::Address(Base::Reg(register), offset) => Some((Some(*register), *offset)),
            Written::Address(Base::Zero, offset) => Some((None, *offset)),
            Written::Address(Base::Symbol(symbol), offset) if !self.frame.contains_key(symbol) => {
                let start = place(self.placement, *symbol)?;
                Some((None, start.wrapping_add_signed(*offset) as i64))
            }
            _ => None,
        }
    }
}

fn making(op: &Op) -> Making {
    match op {
        Op::Alu(form) => match form.alu.class() {
            Class::IntAdd | Class::IntMul | Class::IntMulAdd | Class::Convert => Making::Integers,
            _ => Making::Bits,
        },
        Op::Extended(_) | Op::Redux(..) => Making::Parts,
        Op::Atom(atom) => match atom.op {
            AtomOp::Add | AtomOp::Min | AtomOp::Max | AtomOp::Inc | AtomOp::Dec => Making::Parts,
            AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Exch | AtomOp::Cas => Making::Elsewhere,
        },
        Op::Ld(_) | Op::Call(_) => Making::Elsewhere,
        Op::MovVector(_) => Making::Packed,
        _ => Making::Bits,
    }
}

fn stores(op: &Op) -> bool {
    match op {
        Op::St(_) | Op::Atom(_) | Op::Red(_) | Op::CopyAsync(CopyAsync::Copy { .. } | CopyAsync::Arrive { .. }) => true,
        Op::Surface(surface) => surface.store,
        Op::Matrix(matrix) => matches!(matrix, Matrix::Store(_) | Matrix::StoreFragment(_)),
        Op::Mbarrier(mbarrier) => matches!(
            mbarrier.op,
            MbarrierOp::Init
                | MbarrierOp::Inval
                | MbarrierOp::Arrive
                | MbarrierOp::ArriveNoComplete
                | MbarrierOp::ArriveDrop
                | MbarrierOp::ArriveDropNoComplete
        ),
        _ => false,
    }
}
