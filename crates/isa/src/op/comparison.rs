//! The comparison of `setp` and `set` (PTX ISA §9.7.6).

use super::modifiers::Words;
use super::operand::OperandKind;
use crate::alu::AluForm;
use crate::types::{Type, words};

words! {
    /// How a comparison is combined with a predicate.
    Combine { And = "and", Or = "or", Xor = "xor" }
}

/// What `lop3.and.b32` and `lop3.or.b32` combine their comparison with zero by; `words` are those after the first.
pub(super) fn lop3(words: &mut Words<'_>) -> Option<Combine> {
    let combine = words.take(Combine::from_word).filter(|combine| *combine != Combine::Xor)?;
    words.word("b32")?;
    words.end(combine)
}

/// A comparison of two sources, and what becomes of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// A `setp` line of the table.
    pub compare: AluForm,
    /// How the result is combined with the third source.
    pub combine: Option<Combine>,
    /// Whether the sources are pairs of what the line compares (`.f16x2`, `.bf16x2`): there are two results.
    pub pair: bool,
}

impl Comparison {
    /// The comparison of a line and nothing more.
    #[must_use]
    pub fn of(compare: AluForm) -> Self {
        Self { compare, combine: None, pair: false }
    }

    /// The types of the sources that are compared.
    #[must_use]
    pub fn types(self) -> [Type; 2] {
        let types = self.compare.sources();
        let ty = match (types[0], self.pair) {
            (Type::F16, true) => Type::F16x2,
            (Type::Bf16, true) => Type::Bf16x2,
            (ty, _) => ty,
        };
        [ty; 2]
    }

    pub(super) fn sources(self) -> Vec<OperandKind> {
        let predicate = self.combine.map(|_| Type::Pred);
        self.types().into_iter().chain(predicate).map(OperandKind::Value).collect()
    }

    /// How many results `setp` has at the least and at the most: the complement may be asked for, but not of single
    /// halves, and a pair has two.
    pub(super) fn results(self) -> (usize, usize) {
        match self.types()[0] {
            Type::F16 | Type::Bf16 => (1, 1),
            _ if self.pair => (2, 2),
            _ => (1, 2),
        }
    }

    /// Reads `cmp{.combine}{.ftz}.type`.
    pub(super) fn parse(words: &str) -> Option<Self> {
        let (compare, rest) = words.split_once('.')?;
        let combined = rest.split_once('.').and_then(|(word, rest)| Some((Combine::from_word(word)?, rest)));
        let (combine, rest) = combined.map_or((None, rest), |(combine, rest)| (Some(combine), rest));
        let (single, pair) = rest.strip_suffix("f16x2").map_or((rest, false), |_| (&rest[..rest.len() - 2], true));
        let compare = AluForm::from_spelling(&format!("setp.{compare}.{single}"))?;
        Some(Self { compare, combine, pair })
    }

    /// `setp.lt.and.ftz.f16x2`
    pub(super) fn print(self) -> String {
        let spelling = self.compare.spelling().to_owned() + if self.pair { "x2" } else { "" };
        let Some(combine) = self.combine else { return spelling };
        let mut words: Vec<&str> = spelling.split('.').collect();
        words.insert(2, combine.word());
        words.join(".")
    }

    /// Whether `set` has this type as its destination: what ptxas takes.
    pub(super) fn sets(self, to: Type) -> bool {
        use Type::{Bf16, Bf16x2, F16, F16x2, F32, S16, S32, U16, U32};
        if to == Bf16 && self.compare.spelling().contains(".ftz") {
            return false;
        }
        match self.types()[0] {
            F16 => matches!(to, F16 | Bf16 | U16 | S16 | U32 | S32),
            Bf16 => matches!(to, Bf16 | U16 | S16 | U32 | S32),
            from @ (F16x2 | Bf16x2) => to == from || matches!(to, U32 | S32),
            _ => matches!(to, U32 | S32 | F32 | F16 | Bf16),
        }
    }
}
