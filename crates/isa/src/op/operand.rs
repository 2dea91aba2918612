//! How operands are written, and what each is to its instruction.

use crate::types::Type;

/// How an operand is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A register, constant, special register or symbol, read or written as this type.
    Value(Type),
    /// As `Value`, in a register at least as wide (`ld`, `st` and `cvt` allow that).
    Loose(Type),
    /// `{a, b, …}` of this many elements of this type, in wider registers if need be.
    Vector(Type, u8),
    /// `[base + offset]`
    Address,
    /// `[object, {a, b, …}]`: the register that names a texture or surface, and coordinates of 32 bits.
    Texel {
        /// Type of a coordinate.
        ty: Type,
        /// How many coordinates are written.
        count: u8,
        /// Whether the first is the number of a layer.
        layered: bool,
    },
    /// A branch target.
    Label,
}

/// What a source is to its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRole {
    /// A value that the instruction computes with, or a label.
    Value,
    /// Where it accesses memory.
    Address,
    /// A value that it stores to memory.
    Stored,
    /// What changes no result: a cache policy, what is fetched ahead.
    Hint,
}

/// A source: how it is written, and what it is to the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceOperand {
    /// How it is written.
    pub kind: OperandKind,
    /// What it is.
    pub role: SourceRole,
}

impl From<OperandKind> for SourceOperand {
    /// What an operand is where nothing else is said: an address is where memory is accessed, all else is a value.
    fn from(kind: OperandKind) -> Self {
        let role = if kind == OperandKind::Address { SourceRole::Address } else { SourceRole::Value };
        Self { kind, role }
    }
}

/// Which operands an instruction takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Destinations; the second of `setp` and `shfl` is written `d|p`.
    pub dst: Vec<OperandKind>,
    /// How many trailing destinations may be left out.
    pub optional_dst: usize,
    /// Sources.
    pub src: Vec<SourceOperand>,
    /// How many trailing sources may be left out.
    pub optional_src: usize,
}

impl Signature {
    /// A shape of which no operand may be left out.
    pub(super) fn new(dst: Vec<OperandKind>, src: Vec<SourceOperand>) -> Self {
        Self { dst, optional_dst: 0, src, optional_src: 0 }
    }

    /// The parts of all sources but labels, in order, each with what it is to the instruction.
    pub fn source_parts(&self) -> impl Iterator<Item = SourceOperand> {
        let written = self.src.iter().filter(|source| source.kind != OperandKind::Label);
        written.flat_map(|source| source.kind.parts().into_iter().map(|kind| SourceOperand { kind, role: source.role }))
    }
}

impl OperandKind {
    /// The type that it is read or written as; none of an address or a label.
    #[must_use]
    pub fn ty(self) -> Option<Type> {
        match self {
            Self::Value(ty) | Self::Loose(ty) | Self::Vector(ty, _) | Self::Texel { ty, .. } => Some(ty),
            Self::Address | Self::Label => None,
        }
    }

    /// What an operand is made of, in order: the elements of a vector, or an object and its coordinates.
    #[must_use]
    pub fn parts(self) -> Vec<Self> {
        match self {
            Self::Vector(ty, count) => vec![Self::Loose(ty); usize::from(count)],
            Self::Texel { ty, count, layered } => {
                let coordinate = |at: u8| Self::Value(if layered && at == 0 { Type::U32 } else { ty });
                [Self::Value(Type::B64)].into_iter().chain((0..count).map(coordinate)).collect()
            }
            other => vec![other],
        }
    }

    /// This operand as one that is stored to memory.
    pub(super) fn stored(self) -> SourceOperand {
        SourceOperand { kind: self, role: SourceRole::Stored }
    }

    /// This operand as one that changes no result.
    pub(super) fn hint(self) -> SourceOperand {
        SourceOperand { kind: self, role: SourceRole::Hint }
    }
}

/// Sources that are what they are written as.
pub(super) fn sources(kinds: impl IntoIterator<Item = OperandKind>) -> Vec<SourceOperand> {
    kinds.into_iter().map(SourceOperand::from).collect()
}

/// The cache policy that an access with `.L2::cache_hint` reads after its other operands. It changes no result.
pub(super) fn policy(cache: &str) -> Option<SourceOperand> {
    cache.contains(".L2::cache_hint").then_some(OperandKind::Value(Type::B64).hint())
}
