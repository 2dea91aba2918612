//! Values of buffers, as directives write them.
//!
//! Pieces joined by commas: `zero` (as many as the bound leaves), `iota N [from A] [by B]`, `N of V`, `for N: EXPRESSION`
//! with `i` counting from 0, or plain values: `1 -2 0x1f`, `1.5 -inf nan` for floats, where hexadecimal is bits.

use super::expression::{evaluate, number};
use isa::Type;
use std::fmt;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferType(pub Type);

impl BufferType {
    /// Reads a type: a number or bits of whole bytes.
    pub(super) fn from_word(word: &str) -> Result<Self, String> {
        let ty = Type::from_word(word).filter(|ty| {
            !matches!(ty, Type::Pred | Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) && ty.bits() >= 8
        });
        ty.map(Self).ok_or_else(|| format!("`{word}` is no type of elements"))
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.0.bytes() as usize
    }

    /// The little-endian bytes of a value.
    pub(super) fn scalar(self, word: &str) -> Result<Vec<u8>, String> {
        let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
        let wrong = || format!("`{word}` is no .{}", self.0);
        let bits = match (self.0, number(digits)) {
            (Type::F32 | Type::F64, Some(bits)) if digits.starts_with("0x") && !negative => bits as u128,
            (Type::F32, _) => u128::from(word.parse::<f32>().map_err(|_| wrong())?.to_bits()),
            (Type::F64, _) => u128::from(word.parse::<f64>().map_err(|_| wrong())?.to_bits()),
            (_, Some(value)) => self.integer(if negative { -value } else { value }).ok_or_else(wrong)?,
            (_, None) => return Err(wrong()),
        };
        Ok(bits.to_le_bytes()[..self.bytes()].to_vec())
    }

    /// The bits of an integer that fits, signed or not.
    fn integer(self, value: i128) -> Option<u128> {
        let bits = self.0.bits();
        let fits = bits == 128 || (value >= -(1 << (bits - 1)) && value < 1 << bits);
        fits.then_some(value as u128)
    }

    /// The bytes of an integer, wrapped, or converted where elements are floats.
    fn converted(self, value: i128) -> Vec<u8> {
        let bits = match self.0 {
            Type::F32 => u128::from((value as f32).to_bits()),
            Type::F64 => u128::from((value as f64).to_bits()),
            _ => value as u128,
        };
        bits.to_le_bytes()[..self.bytes()].to_vec()
    }

    /// The value as messages show it.
    pub(super) fn show(self, bytes: &[u8]) -> String {
        let mut word = [0; 16];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u128::from_le_bytes(word);
        match self.0 {
            Type::F32 => format!("{} ({bits:#010x})", f32::from_bits(bits as u32)),
            Type::F64 => format!("{} ({bits:#018x})", f64::from_bits(bits as u64)),
            ty if ty.is_signed() => {
                let unused = 128 - ty.bits();
                format!("{}", (bits << unused) as i128 >> unused)
            }
            _ => format!("{bits} ({bits:#x})"),
        }
    }
}

impl fmt::Display for BufferType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The values of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// What they are.
    pub element: BufferType,
    /// Their little-endian bytes.
    pub bytes: Vec<u8>,
}

impl Values {
    /// Reads values; `bound` is how many there must be, where that is known.
    pub(super) fn read(element: BufferType, bound: Option<usize>, text: &str) -> Result<Self, String> {
        let mut values = Self { element, bytes: Vec::new() };
        for piece in pieces(text) {
            values.piece(piece.trim(), bound)?;
        }
        let count = values.len();
        match bound {
            Some(bound) if bound != count => Err(format!("{count} values where {bound} belong")),
            _ if count == 0 => Err("no values".to_owned()),
            _ => Ok(values),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.bytes()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn piece(&mut self, piece: &str, bound: Option<usize>) -> Result<(), String> {
        if let Some((count, expression)) = piece.strip_prefix("for ").and_then(|rest| rest.split_once(':')) {
            for index in 0..length(count)? {
                self.bytes.extend(self.element.converted(evaluate(expression, index as i128)?));
            }
            return Ok(());
        }
        let words: Vec<&str> = piece.split_whitespace().collect();
        match words.as_slice() {
            ["zero"] => {
                let bound = bound.ok_or("`zero` needs a bound, as in `u32[96]`")?;
                self.bytes.resize(bound.max(self.len()) * self.element.bytes(), 0);
            }
            ["iota", rest @ ..] => {
                let (count, from, by) = iota(rest)?;
                for index in 0..count {
                    self.bytes.extend(self.element.converted(from + by * index as i128));
                }
            }
            [count, "of", value] => {
                let value = self.element.scalar(value)?;
                (0..length(count)?).for_each(|_| self.bytes.extend(&value));
            }
            words => {
                for word in words {
                    self.bytes.extend(self.element.scalar(word)?);
                }
            }
        }
        Ok(())
    }
}

/// Cuts at commas that stand outside parentheses.
fn pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

fn length(word: &str) -> Result<usize, String> {
    let count = word.trim().parse().ok().filter(|&count| count <= 1 << 20);
    count.ok_or_else(|| format!("`{}` is no number of values", word.trim()))
}

fn iota(words: &[&str]) -> Result<(usize, i128, i128), String> {
    let whole = |word: &str| {
        let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
        let value = number(digits).ok_or_else(|| format!("`{word}` is no number"))?;
        Ok::<i128, String>(if negative { -value } else { value })
    };
    Ok(match words {
        [count] => (length(count)?, 0, 1),
        [count, "from", from] => (length(count)?, whole(from)?, 1),
        [count, "by", by] => (length(count)?, 0, whole(by)?),
        [count, "from", from, "by", by] => (length(count)?, whole(from)?, whole(by)?),
        _ => return Err("expected `iota N [from A] [by B]`".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ty: Type, bound: Option<usize>, text: &str) -> Result<Vec<u8>, String> {
        Values::read(BufferType(ty), bound, text).map(|values| values.bytes)
    }

    #[test]
    fn pieces_follow_each_other() {
        assert_eq!(read(Type::U8, None, "1 -1 0xff, iota 3 from 5 by 2, 2 of 9"), Ok(vec![1, 255, 255, 5, 7, 9, 9, 9]));
        assert_eq!(read(Type::U8, Some(4), "7, zero"), Ok(vec![7, 0, 0, 0]));
        assert_eq!(read(Type::S16, None, "for 2: max(i, 0) - 1"), Ok(vec![255, 255, 0, 0]));
        assert_eq!(read(Type::F32, None, "1.5, for 1: 2"), Ok([1.5f32.to_le_bytes(), 2.0f32.to_le_bytes()].concat()));
        assert_eq!(read(Type::F32, None, "0x7fffffff -inf"), Ok(vec![255, 255, 255, 127, 0, 0, 128, 255]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(read(Type::U8, None, "256").unwrap_err(), "`256` is no .u8");
        assert_eq!(read(Type::U8, Some(3), "1 2").unwrap_err(), "2 values where 3 belong");
        assert_eq!(read(Type::U8, None, "zero").unwrap_err(), "`zero` needs a bound, as in `u32[96]`");
        assert_eq!(read(Type::U32, None, "1.5").unwrap_err(), "`1.5` is no .u32");
        assert!(read(Type::U32, None, "").is_err() && read(Type::U32, None, "iota").is_err());
        assert!(BufferType::from_word("pred").is_err() && BufferType::from_word("f16").is_err());
    }

    #[test]
    fn values_are_shown_in_their_type() {
        assert_eq!(BufferType(Type::S8).show(&[255]), "-1");
        assert_eq!(BufferType(Type::U16).show(&[255, 0]), "255 (0xff)");
        assert_eq!(BufferType(Type::F32).show(&1.5f32.to_le_bytes()), "1.5 (0x3fc00000)");
    }
}
