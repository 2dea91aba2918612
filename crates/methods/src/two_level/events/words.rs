//! Numbers by name, as options say them: `iadd=1e11,fadd=2e11`.

use crate::kit::StudyError;

/// A number by name, and the words that it was read from.
pub(super) struct NamedNumber<'a> {
    /// The name and the number as they were written.
    pub(super) words: &'a str,
    /// The name.
    pub(super) name: &'a str,
    /// The number, above 0.
    pub(super) number: f64,
}

/// Reads the value of an option.
///
/// # Errors
/// If a part is not a name with a number above 0; the text names the option, the part, and `form`.
pub(super) fn numbers<'a>(key: &str, text: &'a str, form: &str) -> Result<Vec<NamedNumber<'a>>, StudyError> {
    let read = |words: &'a str| {
        let pair = words.rsplit_once('=').and_then(|(name, number)| Some((name.trim(), number.trim().parse().ok()?)));
        let (name, number) = pair.ok_or_else(|| wrong(key, words, &format!("expected {form}")))?;
        Ok(NamedNumber { words, name, number: positive(key, number)? })
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(read).collect()
}

/// The message about a part of the value of an option.
pub(super) fn wrong(key: &str, words: &str, why: &str) -> StudyError {
    StudyError::Words(format!("read `{words}` for --{key}: {why}"))
}

/// A number that has to be above 0.
///
/// # Errors
/// If it is not; the text names the option.
pub(super) fn positive(key: &str, value: f64) -> Result<f64, StudyError> {
    let wrong = || StudyError::Words(format!("read {value} for --{key}: it must be a number above 0"));
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(wrong()) }
}
