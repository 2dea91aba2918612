//! Numbers as people read them.
//!
//! A group of three digits is set apart by a space that does not break. Rates are percent with two digits after the
//! point, and with more where two would show nothing.

/// The space within a number, narrow and unbreakable.
pub(crate) const THIN: char = '\u{202f}';

/// A count for pages: `1 234 567` with narrow spaces.
pub(crate) fn count(n: u64) -> String {
    study::set_apart(n, THIN)
}

/// A count for terminals and plain text: `1 234 567` with plain spaces.
pub use study::spaced as plain;

/// A share in percent without its sign: `12.34`, `0.0004`, `3.1e-6`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        size if size == 0.0 || size >= 0.005 => format!("{percent:.2}"),
        size if size >= 0.000_05 => format!("{percent:.4}"),
        _ => format!("{percent:.1e}"),
    }
}

/// A rate in percent, or a dash where nothing is known.
pub(crate) fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| "–".to_owned(), |rate| format!("{} %", percent(rate)))
}

/// The bounds of a rate in percent: `12.10–13.40`.
pub(crate) fn bounds(low: f64, high: f64) -> String {
    format!("{}–{}", percent(low), percent(high))
}

/// A rate with its bounds in percent: `12.70 (12.10–13.40) %`.
pub(crate) fn bounded(rate: f64, low: f64, high: f64) -> String {
    format!("{} ({}) %", percent(rate), bounds(low, high))
}

/// A level in percent without its sign: `95`, `99.5455`.
pub(crate) fn level(level: f64) -> String {
    let text = format!("{:.4}", level * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `95 % interval`.
pub(crate) fn interval(level: f64) -> String {
    format!("{} % interval", self::level(level))
}

/// A real number with three significant digits, in the shorter of two notations.
pub(crate) fn real(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let digits = 2 - value.abs().max(1e-300).log10().floor().clamp(-4.0, 2.0) as i32;
        let text = format!("{value:.*}", if value == 0.0 { 0 } else { digits.max(0) as usize });
        return if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    }
    format!("{value:.2e}")
}

/// A length of time: `2.3 s`, `41 min`, `3.2 h`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", real(s)),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(plain), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!(count(12_345), "12\u{202f}345");
    }

    #[test]
    fn small_rates_keep_their_first_digits() {
        assert_eq!(
            [0.0, 0.5, 0.01234, 0.0001, 3e-8, 1.0].map(percent),
            ["0.00", "50.00", "1.23", "0.01", "3.0e-6", "100.00"]
        );
        assert_eq!(rate(None), "–");
        assert_eq!(bounds(0.1, 0.25), "10.00–25.00");
    }

    #[test]
    fn real_numbers_are_short() {
        assert_eq!(
            [0.0, 1.0, 0.0123, 12.3456, 1234.0, 1e9, 2.5e-7].map(real),
            ["0", "1", "0.0123", "12.3", "1234", "1.00e9", "2.50e-7"]
        );
        assert_eq!([1.5, 600.0, 36_000.0].map(seconds), ["1.5 s", "10 min", "10.0 h"]);
    }
}
