//! Which operands each instruction takes.

use super::operand::{OperandKind, Shape, policy, sources};
use super::{Access, Barrier, BarrierMode, Op, Reduction, Vote};
use crate::class::Class;
use crate::types::Type;

impl Op {
    /// Which operands the instruction takes. Calls and vector moves are not described by a shape: their operands
    /// depend on whom they call and on which side is the vector.
    #[must_use]
    pub fn shape(&self) -> Shape {
        use OperandKind::{Address, Label, Loose, Value};
        let shape = |dst: Vec<OperandKind>, src: Vec<OperandKind>| Shape::new(dst, sources(src));
        match self {
            Self::Alu(form) => {
                let loose = form.alu.class() == Class::Convert;
                let kind = |ty: Type| if loose { Loose(ty) } else { Value(ty) };
                shape(vec![kind(form.destination())], form.sources().iter().copied().map(kind).collect())
            }
            Self::Setp(comparison) => {
                let (least, most) = comparison.results();
                Shape { optional_dst: most - least, ..shape(vec![Value(Type::Pred); most], comparison.sources()) }
            }
            Self::Set(comparison, to) => shape(vec![Value(*to)], comparison.sources()),
            Self::Lop3(_) => {
                let src = [Value(Type::B32); 3].into_iter().chain([Value(Type::U32), Value(Type::Pred)]);
                shape(vec![Value(Type::B32), Value(Type::Pred)], src.collect())
            }
            Self::Extended(extended) => shape(vec![Value(extended.ty)], vec![Value(extended.ty); extended.sources()]),
            Self::Ld(access) => {
                let src = [Address.into()].into_iter().chain(policy(&access.cache));
                Shape::new(vec![access.operand()], src.collect())
            }
            Self::St(access) => {
                let src = [Address.into(), access.operand().stored()].into_iter().chain(policy(&access.cache));
                Shape::new(vec![], src.collect())
            }
            Self::Atom(atom) => atom.shape(true),
            Self::Red(atom) => atom.shape(false),
            Self::CopyAsync(copy) => copy.shape(),
            Self::Mbarrier(mbarrier) => mbarrier.shape(),
            Self::Fetch(fetch) => fetch.shape(),
            Self::Surface(surface) => surface.shape(),
            Self::Matrix(matrix) => matrix.shape(),
            Self::CreatePolicy(spelling) => create_policy(spelling),
            Self::Alloca(ty) => {
                Shape { optional_src: 1, ..shape(vec![Value(*ty)], vec![Value(*ty), Value(Type::B32)]) }
            }
            Self::StackSave(ty) => shape(vec![Value(*ty)], vec![]),
            Self::StackRestore(ty) => shape(vec![], vec![Value(*ty)]),
            Self::Mapa(it) => shape(vec![Value(it.ty)], vec![Value(it.ty), Value(Type::B32)]),
            Self::Getctarank(it) => shape(vec![Value(Type::B32)], vec![Value(it.ty)]),
            Self::Elect => {
                Shape { optional_dst: 1, ..shape(vec![Value(Type::B32), Value(Type::Pred)], vec![Value(Type::B32)]) }
            }
            Self::Prefetch(_) => {
                Shape { optional_src: 1, ..Shape::new(vec![], vec![Address.hint(), Value(Type::B32).hint()]) }
            }
            Self::Cvta { ty, .. } => shape(vec![Value(*ty)], vec![Value(*ty)]),
            Self::Isspacep(_) => shape(vec![Value(Type::Pred)], vec![Value(Type::B64)]),
            Self::Shfl(_) => {
                Shape { optional_dst: 1, ..shape(vec![Value(Type::B32), Value(Type::Pred)], vec![Value(Type::B32); 4]) }
            }
            Self::Vote(Vote::Ballot) => shape(vec![Value(Type::B32)], vec![Value(Type::Pred), Value(Type::B32)]),
            Self::Vote(_) => shape(vec![Value(Type::Pred)], vec![Value(Type::Pred), Value(Type::B32)]),
            Self::Match { all, ty } => Shape {
                optional_dst: 1,
                ..shape(
                    if *all { vec![Value(Type::B32), Value(Type::Pred)] } else { vec![Value(Type::B32)] },
                    vec![Value(*ty), Value(Type::B32)],
                )
            },
            Self::Redux(_, ty) => shape(vec![Value(*ty)], vec![Value(*ty), Value(Type::B32)]),
            Self::Activemask => shape(vec![Value(Type::B32)], vec![]),
            Self::Barrier(barrier) => barrier.shape(),
            Self::WarpSync => shape(vec![], vec![Value(Type::B32)]),
            Self::Bra { .. } => shape(vec![], vec![Label]),
            Self::BrxIdx { .. } => shape(vec![], vec![Value(Type::B32), Label]),
            Self::Nanosleep | Self::Event(_) => shape(vec![], vec![Value(Type::B32)]),
            Self::MovVector(_)
            | Self::Call(_)
            | Self::Fence(_)
            | Self::Ret { .. }
            | Self::Exit
            | Self::Trap
            | Self::Brkpt => shape(vec![], vec![]),
        }
    }
}

impl Access {
    /// The value operand: a scalar, or a vector.
    #[must_use]
    pub fn operand(&self) -> OperandKind {
        if self.vector == 1 { OperandKind::Loose(self.ty) } else { OperandKind::Vector(self.ty, self.vector) }
    }

    /// Bytes that one thread moves.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.ty.bytes() * u32::from(self.vector)
    }
}

impl Barrier {
    fn shape(self) -> Shape {
        use OperandKind::Value;
        let word = Value(Type::B32);
        match self.mode {
            BarrierMode::Sync => Shape { optional_src: 1, ..Shape::new(vec![], sources([word, word])) },
            BarrierMode::Arrive => Shape::new(vec![], sources([word, word])),
            // The thread count may be left out in the middle; the parser of operands knows.
            BarrierMode::Reduce(op) => {
                let dst = vec![Value(if op == Reduction::Popc { Type::U32 } else { Type::Pred })];
                Shape { optional_src: 1, ..Shape::new(dst, sources([word, word, Value(Type::Pred)])) }
            }
        }
    }
}

/// `createpolicy`: a fraction, or an address range, or an access property becomes a policy.
fn create_policy(spelling: &str) -> Shape {
    use OperandKind::{Address, Value};
    let (src, optional_src) = match spelling.split('.').nth(1) {
        Some("fractional") => (vec![Value(Type::F32)], 1),
        Some("range") => (vec![Address, Value(Type::B32), Value(Type::B32)], 0),
        _ => (vec![Value(Type::B64)], 0),
    };
    let src = src.into_iter().map(OperandKind::hint).collect();
    Shape { optional_src, ..Shape::new(vec![Value(Type::B64)], src) }
}
