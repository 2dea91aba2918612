//! A number of bytes, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of bytes: `4096`, `512M`, `4G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Text that is no number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a size: write a number of bytes, or of KiB, MiB, GiB or TiB with K, M, G or T behind it, such as 512M"
)]
pub struct NotBytes(String);

/// The letters, each 1024 times the one before.
const UNITS: [char; 4] = ['K', 'M', 'G', 'T'];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut unit) = (self.0, None);
        for letter in UNITS {
            if number > 0 && number.is_multiple_of(1024) {
                (number, unit) = (number / 1024, Some(letter));
            } else {
                break;
            }
        }
        write!(f, "{number}")?;
        unit.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

impl FromStr for Bytes {
    type Err = NotBytes;

    fn from_str(text: &str) -> Result<Self, NotBytes> {
        let parse = || {
            let power = UNITS.iter().position(|&letter| text.to_ascii_uppercase().ends_with(letter));
            let digits = &text[..text.len() - usize::from(power.is_some())];
            let factor = 1u64 << (10 * power.map_or(0, |power| power + 1));
            digits.parse::<u64>().ok()?.checked_mul(factor).map(Self)
        };
        parse().ok_or_else(|| NotBytes(text.to_owned()))
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_printed() {
        for (text, bytes) in [("0", 0), ("1000", 1000), ("512M", 512 << 20), ("4G", 4 << 30), ("3K", 3072)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!("2t".parse(), Ok(Bytes(2 << 40)));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "M", "-1", "1.5G", "4 G", "99999999999T", "12Q"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
