//! Atomic accesses: `atom` and `red`. What they do, how they are spelled, which operands they take.

use super::modifiers::{self, Words};
use super::operand::{OperandKind, Signature, SourceOperand, policy};
use crate::types::{Space, Type, words};
use facts::{MemoryOrder, MemoryScope};
use std::fmt;

/// The modifiers of an atomic access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// What is done to the value in memory.
    pub op: AtomOp,
    /// The state space.
    pub space: Space,
    /// Type of one element.
    pub ty: Type,
    /// Number of elements: 1, 2, 4 or 8. Each is atomic for itself.
    pub vector: u8,
    /// Promise about order. `None`: not written, relaxed.
    pub order: Option<MemoryOrder>,
    /// Scope. `None`: not written, gpu.
    pub scope: Option<MemoryScope>,
    /// Cache hints as written: no effect on results.
    pub cache: String,
}

words! {
    /// What an atomic access does to the value in memory.
    AtomOp {
        Add = "add", Min = "min", Max = "max", Inc = "inc", Dec = "dec",
        And = "and", Or = "or", Xor = "xor", Exch = "exch", Cas = "cas",
    }
}

impl Atom {
    /// The sources: the address, what `cas` compares with, then the value that is stored or combined with what is there.
    fn sources(&self) -> Vec<SourceOperand> {
        let compared = (self.op == AtomOp::Cas).then(|| self.operand().into());
        let sources = [OperandKind::Address.into()].into_iter().chain(compared).chain([self.operand().stored()]);
        sources.chain(policy(&self.cache)).collect()
    }

    fn operand(&self) -> OperandKind {
        if self.vector == 1 { OperandKind::Value(self.ty) } else { OperandKind::Vector(self.ty, self.vector) }
    }

    /// The operands of `atom`, or of `red`, which has no destination.
    pub(super) fn signature(&self, returns: bool) -> Signature {
        let dst = if returns { vec![self.operand()] } else { vec![] };
        Signature::new(dst, self.sources())
    }

    /// Whether the ISA has this operation on this type in this shape (PTX ISA §9.7.13.5 and §9.7.13.6).
    fn exists(&self, returns: bool) -> bool {
        use Type::{B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F64, S32, S64, U32, U64};
        let half = matches!(self.ty, F16 | Bf16 | F16x2 | Bf16x2);
        if self.vector > 1 {
            let most = if matches!(self.ty, F16 | Bf16) { 8 } else { 4 };
            let known = match self.op {
                AtomOp::Add => half || self.ty == F32,
                AtomOp::Min | AtomOp::Max => half,
                _ => false,
            };
            return known && self.vector <= most && matches!(self.space, Space::Generic | Space::Global);
        }
        match self.op {
            AtomOp::Add => half || matches!(self.ty, U32 | S32 | U64 | F32 | F64),
            AtomOp::Min | AtomOp::Max => matches!(self.ty, U32 | S32 | U64 | S64),
            AtomOp::Inc | AtomOp::Dec => self.ty == U32,
            AtomOp::And | AtomOp::Or | AtomOp::Xor => matches!(self.ty, B32 | B64),
            AtomOp::Exch => returns && matches!(self.ty, B32 | B64 | B128),
            AtomOp::Cas => returns && matches!(self.ty, B16 | B32 | B64 | B128),
        }
    }
}

/// Reads what follows `atom` or `red`.
pub(super) fn parse(words: &mut Words<'_>, returns: bool) -> Option<Atom> {
    // libcu++ writes the operation first: `atom.add.acq_rel.gpu.s32`.
    let early = words.take(AtomOp::from_word);
    let (order, scope, space) = words.ordered_space();
    if matches!(order, Some(MemoryOrder::Weak | MemoryOrder::Volatile)) {
        return None;
    }
    let op = early.or_else(|| words.take(AtomOp::from_word))?;
    let noftz = words.word("noftz").is_some();
    let cache = words.take(|word| (word == "L2::cache_hint").then(|| format!(".{word}"))).unwrap_or_default();
    let vector = words.elements();
    let ty = words.take(Type::from_word)?;
    let atom = Atom { op, space, ty, vector, order, scope, cache };
    let space_fits = matches!(space, Space::Generic | Space::Global | Space::Shared);
    if space_fits && noftz == needs_noftz(ty) && atom.exists(returns) { words.end(atom) } else { None }
}

/// Whether the word stands in every spelling: subnormal halves are never flushed.
fn needs_noftz(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2)
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, scope) = (modifiers::dotted(self.order), modifiers::dotted(self.scope));
        let noftz = if needs_noftz(self.ty) { ".noftz" } else { "" };
        let (space, vector) = (modifiers::space(self.space), modifiers::vector(self.vector));
        write!(f, "{order}{scope}{space}.{}{noftz}{}{vector}.{}", self.op, self.cache, self.ty)
    }
}
