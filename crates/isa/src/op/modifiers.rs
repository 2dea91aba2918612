//! Modifiers that several families of instructions have: how they are read, word by word, and how they are written.

use crate::types::Space;
use facts::{MemoryOrder, MemoryScope};
use std::fmt;

/// The words of a spelling that are left to read.
pub(super) struct Words<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        // `L1::evict_last` and the like hold no dots.
        (!self.rest.is_empty()).then(|| self.rest.split_once('.').map_or(self.rest, |(word, _)| word))
    }

    pub(super) fn take<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let word = self.peek()?;
        let value = read(word)?;
        self.rest = self.rest[word.len()..].trim_start_matches('.');
        Some(value)
    }

    pub(super) fn word(&mut self, expected: &str) -> Option<()> {
        self.take(|word| (word == expected).then_some(()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn end<T>(&self, value: T) -> Option<T> {
        self.is_empty().then_some(value)
    }

    /// A space; that of this block, entry or function is the plain one. A block is a cluster of its own, so that the
    /// shared memory of its cluster is its own too.
    pub(super) fn space(&mut self) -> Option<Space> {
        self.take(|word| match word {
            "shared::cta" | "shared::cluster" => Some(Space::Shared),
            "param::entry" | "param::func" => Some(Space::Param),
            "generic" => None,
            _ => Space::from_word(word),
        })
    }

    /// The space of an address, which may be left out.
    pub(super) fn space_or_generic(&mut self) -> Space {
        self.space().unwrap_or(Space::Generic)
    }

    /// MemoryOrder, scope and space. The space stands behind both, as documented, or before them, as compilers write it.
    pub(super) fn ordered_space(&mut self) -> (Option<MemoryOrder>, Option<MemoryScope>, Space) {
        let early = self.space();
        let order = self.take(MemoryOrder::from_word);
        let scope = self.take(MemoryScope::from_word);
        (order, scope, early.unwrap_or_else(|| self.space_or_generic()))
    }

    /// Number of elements: of a vector, or one.
    pub(super) fn elements(&mut self) -> u8 {
        let vector = self.take(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        vector.unwrap_or(1)
    }

    /// Cache operators and hints, each with its dot; they change no result.
    pub(super) fn cache(&mut self) -> String {
        const OPERATORS: &[&str] = &["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"];
        let known = |word: &str| word.starts_with("L1::") || word.starts_with("L2::") || OPERATORS.contains(&word);
        let mut written = String::new();
        while let Some(word) = self.take(|word| known(word).then(|| format!(".{word}"))) {
            written.push_str(&word);
        }
        written
    }
}

/// A modifier with its dot, if there is one.
pub(super) struct Dotted<T>(Option<T>);

impl<T: fmt::Display> fmt::Display for Dotted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |word| write!(f, ".{word}"))
    }
}

/// A modifier that may be left out.
pub(super) fn dotted<T>(word: Option<T>) -> Dotted<T> {
    Dotted(word)
}

/// The space, which the generic one leaves out.
pub(super) fn space(space: Space) -> Dotted<Space> {
    Dotted((space != Space::Generic).then_some(space))
}

/// `.v4`, which a single element leaves out.
pub(super) fn vector(elements: u8) -> Dotted<String> {
    Dotted((elements > 1).then(|| format!("v{elements}")))
}
