//! Which operands each instruction takes.

use super::operand::{OperandKind, Signature, policy, sources};
use super::{Barrier, BarrierMode, LoadStore, Op, Reduction, Vote};
use crate::class::AluClass;
use crate::types::Type;

impl Op {
    /// Which operands the instruction takes. Calls and vector moves are not described by a signature: their operands
    /// depend on whom they call and on which side is the vector.
    #[must_use]
    pub fn signature(&self) -> Signature {
        use OperandKind::{Address, Label, Loose, Value};
        let signature = |dst: Vec<OperandKind>, src: Vec<OperandKind>| Signature::new(dst, sources(src));
        match self {
            Self::Alu(form) => {
                let loose = form.alu.class() == AluClass::Convert;
                let kind = |ty: Type| if loose { Loose(ty) } else { Value(ty) };
                signature(vec![kind(form.destination())], form.sources().iter().copied().map(kind).collect())
            }
            Self::Setp(comparison) => {
                let (least, most) = comparison.results();
                Signature {
                    optional_dst: most - least,
                    ..signature(vec![Value(Type::Pred); most], comparison.sources())
                }
            }
            Self::Set(comparison, to) => signature(vec![Value(*to)], comparison.sources()),
            Self::Lop3(_) => {
                let src = [Value(Type::B32); 3].into_iter().chain([Value(Type::U32), Value(Type::Pred)]);
                signature(vec![Value(Type::B32), Value(Type::Pred)], src.collect())
            }
            Self::Extended(extended) => {
                signature(vec![Value(extended.ty)], vec![Value(extended.ty); extended.sources()])
            }
            Self::Ld(access) => {
                let src = [Address.into()].into_iter().chain(policy(&access.cache));
                Signature::new(vec![access.operand()], src.collect())
            }
            Self::St(access) => {
                let src = [Address.into(), access.operand().stored()].into_iter().chain(policy(&access.cache));
                Signature::new(vec![], src.collect())
            }
            Self::Atom(atom) => atom.signature(true),
            Self::Red(atom) => atom.signature(false),
            Self::CopyAsync(copy) => copy.signature(),
            Self::Mbarrier(mbarrier) => mbarrier.signature(),
            Self::Fetch(fetch) => fetch.signature(),
            Self::Surface(surface) => surface.signature(),
            Self::Matrix(matrix) => matrix.signature(),
            Self::CreatePolicy(spelling) => create_policy(spelling),
            Self::Alloca(ty) => {
                Signature { optional_src: 1, ..signature(vec![Value(*ty)], vec![Value(*ty), Value(Type::B32)]) }
            }
            Self::StackSave(ty) => signature(vec![Value(*ty)], vec![]),
            Self::StackRestore(ty) => signature(vec![], vec![Value(*ty)]),
            Self::Mapa(it) => signature(vec![Value(it.ty)], vec![Value(it.ty), Value(Type::B32)]),
            Self::Getctarank(it) => signature(vec![Value(Type::B32)], vec![Value(it.ty)]),
            Self::Elect => Signature {
                optional_dst: 1,
                ..signature(vec![Value(Type::B32), Value(Type::Pred)], vec![Value(Type::B32)])
            },
            Self::Prefetch(_) => {
                Signature { optional_src: 1, ..Signature::new(vec![], vec![Address.hint(), Value(Type::B32).hint()]) }
            }
            Self::Cvta { ty, .. } => signature(vec![Value(*ty)], vec![Value(*ty)]),
            Self::Isspacep(_) => signature(vec![Value(Type::Pred)], vec![Value(Type::B64)]),
            Self::Shfl(_) => Signature {
                optional_dst: 1,
                ..signature(vec![Value(Type::B32), Value(Type::Pred)], vec![Value(Type::B32); 4])
            },
            Self::Vote(Vote::Ballot) => signature(vec![Value(Type::B32)], vec![Value(Type::Pred), Value(Type::B32)]),
            Self::Vote(_) => signature(vec![Value(Type::Pred)], vec![Value(Type::Pred), Value(Type::B32)]),
            Self::Match { all, ty } => Signature {
                optional_dst: 1,
                ..signature(
                    if *all { vec![Value(Type::B32), Value(Type::Pred)] } else { vec![Value(Type::B32)] },
                    vec![Value(*ty), Value(Type::B32)],
                )
            },
            Self::Redux(_, ty) => signature(vec![Value(*ty)], vec![Value(*ty), Value(Type::B32)]),
            Self::Activemask => signature(vec![Value(Type::B32)], vec![]),
            Self::Barrier(barrier) => barrier.signature(),
            Self::WarpSync => signature(vec![], vec![Value(Type::B32)]),
            Self::Bra { .. } => signature(vec![], vec![Label]),
            Self::BrxIdx { .. } => signature(vec![], vec![Value(Type::B32), Label]),
            Self::Nanosleep | Self::Event(_) => signature(vec![], vec![Value(Type::B32)]),
            Self::MovVector(_)
            | Self::Call(_)
            | Self::Fence(_)
            | Self::Ret { .. }
            | Self::Exit
            | Self::Trap
            | Self::Brkpt => signature(vec![], vec![]),
        }
    }
}

impl LoadStore {
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
    fn signature(self) -> Signature {
        use OperandKind::Value;
        let word = Value(Type::B32);
        match self.mode {
            BarrierMode::Sync => Signature { optional_src: 1, ..Signature::new(vec![], sources([word, word])) },
            BarrierMode::Arrive => Signature::new(vec![], sources([word, word])),
            // The thread count may be left out in the middle; the parser of operands knows.
            BarrierMode::Reduce(op) => {
                let dst = vec![Value(if op == Reduction::Popc { Type::U32 } else { Type::Pred })];
                Signature { optional_src: 1, ..Signature::new(dst, sources([word, word, Value(Type::Pred)])) }
            }
        }
    }
}

/// `createpolicy`: a fraction, or an address range, or an access property becomes a policy.
fn create_policy(spelling: &str) -> Signature {
    use OperandKind::{Address, Value};
    let (src, optional_src) = match spelling.split('.').nth(1) {
        Some("fractional") => (vec![Value(Type::F32)], 1),
        Some("range") => (vec![Address, Value(Type::B32), Value(Type::B32)], 0),
        _ => (vec![Value(Type::B64)], 0),
    };
    let src = src.into_iter().map(OperandKind::hint).collect();
    Signature { optional_src, ..Signature::new(vec![Value(Type::B64)], src) }
}
