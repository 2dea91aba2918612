//! One fault and its text id.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A fault: one place and time, and what happens to the bits there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The launch, from 0 in the order of the capsule.
    pub launch: u32,
    /// The block, linear in its grid.
    pub cta: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// The dynamic instruction: how many instructions the thread executed (with a true guard) before this one.
    pub dynamic: u64,
    /// The operand that is hit.
    pub target: Target,
    /// What happens to it.
    pub model: Model,
}

/// The operand that a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The destination at this position, after it is written.
    Destination(u8),
}

/// What happens to the bits of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// These bits flip. Never empty.
    Flip(u128),
}

impl Model {
    /// One bit flips.
    #[must_use]
    pub fn single(bit: u32) -> Self {
        Self::Flip(1 << (bit % 128))
    }

    /// The bits that the operand has afterwards.
    #[must_use]
    pub fn apply(self, bits: u128) -> u128 {
        match self {
            Self::Flip(mask) => bits ^ mask,
        }
    }

    /// The highest bit touched: the operand must be wider.
    #[must_use]
    pub fn highest_bit(self) -> u32 {
        match self {
            Self::Flip(mask) => 127 - mask.leading_zeros().min(127),
        }
    }

    /// The name used in ids and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flip(_) => "flip",
        }
    }

    /// The bits as ids write them: `12`, or `3+7` for several.
    #[must_use]
    pub fn bits(self) -> String {
        match self {
            Self::Flip(mask) => {
                let bits = (0..128).filter(|bit| (mask >> bit) & 1 == 1);
                bits.map(|bit: u32| bit.to_string()).collect::<Vec<_>>().join("+")
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Destination(index) => write!(f, "dst{index}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { launch, cta, thread, dynamic, target, model } = self;
        write!(f, "launch={launch},cta={cta},thread={thread},dyn={dynamic},target={target}")?;
        write!(f, ",model={},bits={}", model.name(), model.bits())
    }
}

/// Why a text is not a fault id.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseFaultError {
    /// A part is not of the form `key=value`.
    #[error("read `{0}` in the fault id: expected key=value, as in {EXAMPLE}")]
    NotAPair(String),
    /// A key is not one of a fault.
    #[error("read key `{0}` in the fault id: known are launch, cta, thread, dyn, target, model, bits, pc and line")]
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

/// An id for error messages.
const EXAMPLE: &str = "launch=3,cta=17,thread=65,dyn=204,target=dst0,model=flip,bits=12";

const KEYS: [&str; 7] = ["launch", "cta", "thread", "dyn", "target", "model", "bits"];

impl FromStr for Fault {
    type Err = ParseFaultError;

    /// Reads an id; the keys may come in any order, and `pc` and `line` are ignored.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let mut values: [Option<&str>; KEYS.len()] = [None; KEYS.len()];
        for part in text.trim().split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| ParseFaultError::NotAPair(part.to_owned()))?;
            if matches!(key, "pc" | "line") {
                continue;
            }
            let at = KEYS.iter().position(|known| *known == key);
            let slot = &mut values[at.ok_or_else(|| ParseFaultError::UnknownKey(key.to_owned()))?];
            if slot.replace(value).is_some() {
                return Err(ParseFaultError::Twice(key.to_owned()));
            }
        }
        let get = |at: usize| values[at].ok_or(ParseFaultError::Missing(KEYS[at]));
        Ok(Self {
            launch: number("launch", get(0)?)?,
            cta: number("cta", get(1)?)?,
            thread: number("thread", get(2)?)?,
            dynamic: number("dyn", get(3)?)?,
            target: target(get(4)?)?,
            model: model(get(5)?, get(6)?)?,
        })
    }
}

fn wrong(key: &str, value: &str, expected: &'static str) -> ParseFaultError {
    ParseFaultError::Value { key: key.to_owned(), value: value.to_owned(), expected }
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, ParseFaultError> {
    // `parse` would take a sign.
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if digits { value.parse().ok() } else { None };
    parsed.ok_or_else(|| wrong(key, value, "a whole number, from 0"))
}

fn target(value: &str) -> Result<Target, ParseFaultError> {
    let expected = "dst0, dst1, … (the position of a destination)";
    let index = value.strip_prefix("dst").ok_or_else(|| wrong("target", value, expected))?;
    number("target", index).map(Target::Destination).map_err(|_| wrong("target", value, expected))
}

fn model(name: &str, bits: &str) -> Result<Model, ParseFaultError> {
    if name != "flip" {
        return Err(wrong("model", name, "flip"));
    }
    let expected = "bit numbers from 0 to 127, ascending and joined by +";
    let mut mask = 0u128;
    for bit in bits.split('+') {
        let bit: u32 = number("bits", bit).map_err(|_| wrong("bits", bits, expected))?;
        if bit > 127 || mask >> bit != 0 {
            return Err(wrong("bits", bits, expected));
        }
        mask |= 1 << bit;
    }
    Ok(Model::Flip(mask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_id_parses_to_the_fault_that_printed_it(
            launch: u32, cta: u64, thread: u32, dynamic: u64, dst: u8, mask in 1u128..
        ) {
            let fault =
                Fault { launch, cta, thread, dynamic, target: Target::Destination(dst), model: Model::Flip(mask) };
            prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault));
        }

        #[test]
        fn a_single_bit_model_flips_one_bit_of_any_value(bit in 0u32..128, value: u128) {
            prop_assert_eq!((Model::single(bit).apply(value) ^ value).count_ones(), 1);
            prop_assert_eq!(Model::single(bit).apply(Model::single(bit).apply(value)), value);
            prop_assert_eq!(Model::single(bit).highest_bit(), bit);
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Fault>();
        }
    }

    #[test]
    fn the_printed_id_is_the_documented_one() {
        assert_eq!(EXAMPLE.parse::<Fault>().unwrap().to_string(), EXAMPLE);
    }

    #[test]
    fn pc_and_line_are_ignored_and_the_order_is_free() {
        let shuffled = "line=88,bits=12,dyn=204,model=flip,target=dst0,pc=9,launch=3,thread=65,cta=17";
        assert_eq!(shuffled.parse::<Fault>(), EXAMPLE.parse());
    }

    #[test]
    fn each_mistake_says_what_was_expected() {
        let message = |text: &str| text.parse::<Fault>().unwrap_err().to_string();
        assert_eq!(
            message(&EXAMPLE.replace("cta=17", "cta=-1")),
            "read `cta=-1` in the fault id: expected a whole number, from 0"
        );
        assert!(message("launch=3").contains("`cta` is missing"));
        assert!(message("whatever").contains("expected key=value"));
        assert!(message(&EXAMPLE.replace("dst0", "src0")).contains("dst0, dst1"));
        assert!(message(&EXAMPLE.replace("bits=12", "bits=3+3")).contains("ascending"));
        assert!(message(&EXAMPLE.replace("bits=12", "bits=128")).contains("0 to 127"));
        assert!(message(&format!("{EXAMPLE},cta=1")).contains("twice"));
        assert!(message(&format!("{EXAMPLE},colour=1")).contains("`colour`"));
    }
}
