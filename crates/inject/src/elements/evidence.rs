//! What a stored value is: what the store says and, where that leaves something open, what made the value.
//!
//! The making is read off the code, backwards from the stored register through moves and through arithmetic that is the
//! same for signed and unsigned numbers, over all definitions of a register whatever the order of control. A float that
//! appears among them decides; a signed instruction decides on the sign.

use capsule::ElementType;
use facts::{Facts, Reg, ResultKind, Role, Type};
use simt::Program;
use simt::program::FunctionCode;
use std::collections::{BTreeMap, BTreeSet};

/// How many definitions are followed from a stored register.
pub(super) const MOST: usize = 64;

/// What a store is known to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stored {
    /// Elements of this type, as its word says.
    Element(&'static str),
    /// Integers of so many bytes, signed or not.
    Integer(u8),
    /// Nobody knows.
    Unclear,
}

impl Stored {
    fn of(ty: Type) -> Self {
        Self::Element(match ty {
            Type::F16x2 => "f16",
            Type::Bf16x2 => "bf16",
            ty => ty.word(),
        })
    }

    /// What a value is that is stored or loaded as a type, and of which something is known.
    pub(super) fn made(made: ValueOrigin, ty: Type) -> Self {
        if ty.is_float() || ty.is_signed() {
            return Self::of(ty);
        }
        let unsigned = matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64);
        let bytes = ty.bytes() as u8;
        match made {
            ValueOrigin::Float(float) => Self::of(float),
            ValueOrigin::Signed if bytes <= 8 => Self::of(signed(bytes)),
            ValueOrigin::Integer if bytes <= 8 => Self::Integer(bytes),
            _ if unsigned => Self::Integer(bytes),
            // A byte is a byte, whatever it means.
            _ if bytes == 1 => Self::Integer(1),
            _ => Self::Unclear,
        }
    }

    /// How much it says of what is stored: the more, the clearer.
    pub(super) fn clarity(self) -> u8 {
        match self {
            Self::Unclear => 0,
            Self::Integer(_) => 1,
            Self::Element(word) if word.starts_with(['s', 'u']) => 2,
            Self::Element(_) => 3,
        }
    }

    /// The type of the elements, of which these are the golden bytes.
    ///
    /// Integers whose sign nothing shows are signed if all that are large are as small negative numbers are: their
    /// highest byte is full.
    pub(super) fn element(self, golden: &[u8]) -> Option<ElementType> {
        match self {
            Self::Element(word) => word.parse().ok(),
            Self::Integer(bytes) => {
                let highest = || golden.chunks_exact(usize::from(bytes)).filter_map(|element| element.last().copied());
                let (large, full) =
                    (highest().any(|byte| byte > 0x7f), highest().all(|byte| byte <= 0x7f || byte == 0xff));
                let sign = if bytes > 1 && large && full { 's' } else { 'u' };
                format!("{sign}{}", 8 * u32::from(bytes)).parse().ok()
            }
            Self::Unclear => None,
        }
    }
}

/// The kind of value that the instruction shows that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueOrigin {
    /// Nothing: it was loaded as bits, or came from elsewhere.
    Unknown,
    /// An integer.
    Integer,
    /// A signed integer.
    Signed,
    /// A number of this floating-point type.
    Float(Type),
}

/// The instructions of a function by the registers that they write.
pub(super) struct Definitions<'p> {
    code: &'p FunctionCode,
    by_register: BTreeMap<Reg, Vec<&'p Facts>>,
}

impl<'p> Definitions<'p> {
    pub(super) fn of(program: &'p Program, code: &'p FunctionCode) -> Self {
        let mut by_register: BTreeMap<Reg, Vec<&Facts>> = BTreeMap::new();
        for facts in program.body(code.id) {
            for register in facts.writes() {
                by_register.entry(register).or_default().push(facts);
            }
        }
        Self { code, by_register }
    }

    /// What an instruction stores as this type.
    pub(super) fn stored(&self, ty: Type, facts: &Facts) -> Stored {
        let values = facts.of_role(Role::Stored).map(|value| value.register);
        Stored::made(values.map(|value| self.made(value, ty)).max().unwrap_or(ValueOrigin::Unknown), ty)
    }

    /// What is known of the making of a register that is stored as this type.
    fn made(&self, value: Reg, ty: Type) -> ValueOrigin {
        let (mut seen, mut left, mut found) = (BTreeSet::from([value]), vec![value], ValueOrigin::Unknown);
        while let Some(register) = left.pop() {
            for facts in self.by_register.get(&register).into_iter().flatten().take(MOST) {
                let (made, through) = self.step(facts, register, ty);
                found = found.max(made);
                left.extend(through.filter(|&register| seen.len() < MOST && seen.insert(register)));
            }
        }
        found
    }

    /// What an instruction that writes `register` shows of the value, and the registers that may show more.
    fn step<'i>(&'i self, facts: &'i Facts, register: Reg, ty: Type) -> (ValueOrigin, impl Iterator<Item = Reg> + 'i) {
        let made = shown(facts, register, ty);
        let follows = match facts.making {
            // What it makes of its sources says nothing about them: the address of a load, a word of a longer sum.
            ResultKind::Elsewhere | ResultKind::Parts => false,
            // Nor does the float of a conversion, or the sign of an instruction that has one.
            ResultKind::Integers => matches!(made, ValueOrigin::Unknown | ValueOrigin::Integer),
            ResultKind::Bits | ResultKind::Packed => made == ValueOrigin::Unknown,
        };
        let packs = facts.making == ResultKind::Packed;
        let fits = move |register: &Reg| {
            let bits = self.code.declared[register.index()].width().bits();
            bits > 1 && (bits == ty.width().bits() || (packs && bits < ty.width().bits()))
        };
        let addresses = |register: Reg| facts.of_role(Role::Address).any(|address| address.register == register);
        let sources = facts.of_role(Role::Source).filter(move |_| follows).map(|source| source.register);
        (made, sources.filter(move |&register| !addresses(register)).filter(fits))
    }
}

/// What the type of a destination shows of a value that is stored as `ty`.
fn shown(facts: &Facts, register: Reg, ty: Type) -> ValueOrigin {
    let written = facts.of_role(Role::Destination).find(|written| written.register == register);
    let Some(written) = written.and_then(|written| written.ty) else { return ValueOrigin::Unknown };
    let fits = written.bits() <= ty.bits() && ty.bits().is_multiple_of(written.bits());
    if written.is_float() && fits {
        ValueOrigin::Float(written)
    } else if written.is_signed() && written.bits() == ty.bits() {
        ValueOrigin::Signed
    } else if matches!(facts.making, ResultKind::Integers | ResultKind::Parts) && !written.is_float() {
        ValueOrigin::Integer
    } else {
        ValueOrigin::Unknown
    }
}

fn signed(bytes: u8) -> Type {
    match bytes {
        1 => Type::S8,
        2 => Type::S16,
        4 => Type::S32,
        _ => Type::S64,
    }
}
