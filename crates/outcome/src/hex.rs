//! 128-bit values as `"0x…"`, for serde's `with`: JSON's numbers end at 2⁵³ for most readers.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes the value in hexadecimal.
///
/// # Errors
/// When the serializer fails.
pub fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{value:#x}"))
}

/// Reads what [`serialize`] writes.
///
/// # Errors
/// When the deserializer fails, or the text is no such value.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a value such as 0x1f")))
}

/// The value that `{:#x}` writes as `text`, if it does write such a text.
#[must_use]
pub fn parse(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x")?;
    // `from_str_radix` would take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u128::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_hexadecimal_is_refused() {
        for text in ["", "1f", "0x", "0x+1", "0xg", "0x100000000000000000000000000000000"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("0x1f"), Some(31));
    }
}
