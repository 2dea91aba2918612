//! Masks of bits, and how they are written.

/// A mask of so many low bits.
pub(crate) fn all(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Reads `0x1f`.
pub(crate) fn hexadecimal(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x")?;
    // `from_str_radix` would take a sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}
