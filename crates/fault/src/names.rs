//! Kernel names as people write them.

/// The plain name inside a mangled one: `gemm` of `_Z4gemmILi16EEvPf`, the last part of a nested name. A name that
/// is not mangled (Itanium C++ ABI, §5.1) is returned as it is.
#[must_use]
pub fn base_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else { return mangled };
    let nested = rest.strip_prefix('N');
    let mut rest = nested.unwrap_or(rest).trim_start_matches(['K', 'V', 'r', 'L']);
    let mut found = mangled;
    while let Some((name, after)) = source_name(rest) {
        found = name;
        if nested.is_none() {
            break;
        }
        rest = after;
    }
    found
}

/// A length and that many characters.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    Some((rest.get(..length)?, &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_found_in_mangled_ones() {
        assert_eq!(base_name("_Z4gemmILi16ELb1EEvPKfS1_Pf"), "gemm");
        assert_eq!(base_name("_Z12advance_rowsPKiPi"), "advance_rows");
        assert_eq!(base_name("_ZN3app6kernelEv"), "kernel");
        assert_eq!(base_name("_ZN35_GLOBAL__N__0_x_cu_0123456789abcdef4scanEv"), "scan");
        assert_eq!(base_name("plain"), "plain");
        assert_eq!(base_name("_Z99x"), "_Z99x");
        assert_eq!(base_name("_Z"), "_Z");
    }
}
