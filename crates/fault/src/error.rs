//! What can be wrong with the text of a fault, and with the words of a selection.

use std::str::FromStr;
use thiserror::Error;

/// An id for error messages.
pub(crate) const EXAMPLE: &str = "isa=ptx,launch=3,cta=17,thread=65,dyn=204,target=dst0,model=flip,bits=12";

/// Why a text is not a fault id.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseFaultError {
    /// A part is not of the form `key=value`.
    #[error("read `{0}` in the fault id: expected key=value, as in {EXAMPLE}")]
    NotAPair(String),
    /// A key is not one of a fault.
    #[error(
        "read key `{0}` in the fault id: known are isa, launch, cta, thread, dyn, target, model, bits, scope, pc and line"
    )]
    UnknownKey(String),
    /// A key occurs twice.
    #[error("read the fault id: `{0}` is given twice")]
    Twice(String),
    /// A key is missing.
    #[error("read the fault id: `{0}` is missing; a whole id looks like {EXAMPLE}")]
    Missing(&'static str),
    /// A value does not fit its key.
    #[error("read `{key}={value}` in the fault id: expected {expected}")]
    Value {
        /// The key.
        key: String,
        /// What was found.
        value: String,
        /// What belongs there.
        expected: &'static str,
    },
}

/// Why a selection cannot be understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SelectionError {
    /// A word is not one of those that the key takes.
    #[error("use {key} `{found}`: expected one of {expected}")]
    Word {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
        /// What it takes.
        expected: String,
    },
    /// Words of 32 bits are no number of registers.
    #[error("use target `{0}`: expected reg:N, one of N registers of 32 bits, from 1 to 1024")]
    Registers(String),
    /// A range is not one.
    #[error("use {key} `{found}`: expected numbers and ranges such as 0-31 or 7")]
    Range {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
    },
    /// A kernel's launch number is not a number.
    #[error("use kernel `{0}`: expected NAME, or NAME#n for its n-th launch, counted from 0")]
    Kernel(String),
    /// Source lines are not of the form `FILE:a-b`.
    #[error("use lines `{0}`: expected FILE:a-b, FILE:a or a-b")]
    Lines(String),
    /// Memory belongs to no thread.
    #[error("use scope `{0}` with a byte of memory: it is hit once, whoever reads it; leave `scope` out")]
    Scope(String),
    /// A model after which its scope is said, or each of several models, has its own scope.
    #[error(
        "use scope `{0}` with a model that says its own, or several models: each says it, as in 0.4*flip|0.6*random@{0}; leave `scope` out"
    )]
    Scopes(String),
    /// Registers at a random time and memory are hit by one thread's models.
    #[error("use a model with `@{0}` for the target {1}: only operands are hit in several threads at once")]
    Several(String, String),
}

pub(crate) fn wrong(key: &str, value: &str, expected: &'static str) -> ParseFaultError {
    ParseFaultError::Value { key: key.to_owned(), value: value.to_owned(), expected }
}

pub(crate) fn number<T: FromStr>(key: &str, value: &str) -> Result<T, ParseFaultError> {
    digits(value).ok_or_else(|| wrong(key, value, "a whole number, from 0"))
}

/// A number without a sign, which `parse` would take.
pub(crate) fn digits<T: FromStr>(text: &str) -> Option<T> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
