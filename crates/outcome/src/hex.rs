//! Values of up to 128 bits as `"0x…"`, for serde's `with`: JSON's numbers end at 2⁵³ for most readers.

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
    // `from_str_radix` would take a sign.
    is_value(text).then_some(())?;
    u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Whether [`parse`] gives a value.
#[must_use]
pub fn is_value(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    // Zeros before the first digit count for nothing, and nobody writes them.
    (1..=32).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The same for addresses that may be missing.
pub mod optional {
    use super::{Deserialize, Deserializer, Error, Serializer, parse};

    /// Writes the address in hexadecimal.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(address: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match address {
            Some(address) => serializer.collect_str(&format_args!("{address:#x}")),
            None => serializer.serialize_none(),
        }
    }

    /// Reads what [`serialize`] writes.
    ///
    /// # Errors
    /// When the deserializer fails, or the text is no such address.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let address = parse(&text).and_then(|address| u64::try_from(address).ok());
        address.map(Some).ok_or_else(|| D::Error::custom(format!("`{text}` is not an address such as 0x1f")))
    }
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
