//! Bytes as lower-case hexadecimal text: digests, the arguments of launches in the manifest, and whatever else is
//! bytes in a text that is serialized.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Two digits per byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte)]).collect()
}

/// The bytes that `text` spells, or why it spells none. Only lower-case digits: every value has one spelling.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return Err(format!("expected an even number of hexadecimal digits, found {}", text.len()));
    };
    let pair = |(place, &[high, low]): (usize, &[u8; 2])| match (nibble(high), nibble(low)) {
        (Some(high), Some(low)) => Ok(high << 4 | low),
        _ => Err(format!("expected two lower-case hexadecimal digits at character {}", 2 * place)),
    };
    pairs.iter().enumerate().map(pair).collect()
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// For `#[serde(with = "capsule::hex")]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(bytes))
}

/// For `#[serde(with = "capsule::hex")]`.
///
/// # Errors
/// If the text is not an even number of lower-case digits.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    decode(&text).map_err(D::Error::custom)
}
