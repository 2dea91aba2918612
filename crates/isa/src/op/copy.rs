//! Asynchronous copies: `cp.async` and what waits for it.

use super::modifiers::{self, Words};
use super::operand::{OperandKind, Signature, policy, sources};
use crate::types::{Space, Type, words};
use std::fmt;

/// An instruction of the `cp.async` family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyAsync {
    /// `cp.async`: from global to shared memory. The third operand is the number of bytes.
    Copy {
        /// Whether the copy goes past the first cache (`.cg`).
        cg: bool,
        /// Cache hints as written, each with its dot: no effect on results.
        cache: String,
        /// What the operand after the size says, if there is one. The parser of operands fills it in.
        fill: Fill,
    },
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group`, with a number of groups.
    WaitGroup,
    /// `cp.async.wait_all`
    WaitAll,
    /// `cp.async.mbarrier.arrive`: the barrier is told when the thread's copies are done.
    Arrive {
        /// Whether this arrival is one that the barrier expects (`.noinc`).
        expected: bool,
        /// The space that the barrier is addressed in.
        space: Space,
    },
}

words! {
    /// How a copy fills bytes with zeros that it does not read.
    Fill { None = "none", Size = "size", Ignore = "ignore" }
}

/// Reads what follows `cp`.
pub(super) fn parse(words: &mut Words<'_>) -> Option<CopyAsync> {
    words.word("async")?;
    if words.word("mbarrier").is_some() {
        words.word("arrive")?;
        let expected = words.word("noinc").is_some();
        let space = words.space_or_generic();
        words.word("b64")?;
        let fits = matches!(space, Space::Generic | Space::Shared);
        return if fits { words.end(CopyAsync::Arrive { expected, space }) } else { None };
    }
    let copy = match words.take(|word| Some(word.to_owned()))?.as_str() {
        "commit_group" => CopyAsync::Commit,
        "wait_group" => CopyAsync::WaitGroup,
        "wait_all" => CopyAsync::WaitAll,
        level @ ("ca" | "cg") => {
            words.word("shared").or_else(|| words.word("shared::cta"))?;
            words.word("global")?;
            CopyAsync::Copy { cg: level == "cg", cache: words.cache(), fill: Fill::None }
        }
        _ => return None,
    };
    words.end(copy)
}

impl CopyAsync {
    pub(super) fn signature(&self) -> Signature {
        use OperandKind::{Address, Value};
        let src = match self {
            Self::Copy { cache, fill, .. } => {
                let fill = match fill {
                    Fill::None => None,
                    Fill::Size => Some(Value(Type::B32)),
                    Fill::Ignore => Some(Value(Type::Pred)),
                };
                let written = sources([Address, Address, Value(Type::B32)].into_iter().chain(fill));
                written.into_iter().chain(policy(cache)).collect()
            }
            Self::WaitGroup => sources([Value(Type::B32)]),
            Self::Arrive { .. } => sources([Address]),
            Self::Commit | Self::WaitAll => vec![],
        };
        Signature::new(vec![], src)
    }
}

impl fmt::Display for CopyAsync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { cg, cache, .. } => {
                write!(f, "cp.async.{}.shared.global{cache}", if *cg { "cg" } else { "ca" })
            }
            Self::Commit => f.write_str("cp.async.commit_group"),
            Self::WaitGroup => f.write_str("cp.async.wait_group"),
            Self::WaitAll => f.write_str("cp.async.wait_all"),
            Self::Arrive { expected, space } => {
                let noinc = if *expected { ".noinc" } else { "" };
                write!(f, "cp.async.mbarrier.arrive{noinc}{}.b64", modifiers::space(*space))
            }
        }
    }
}
