//! The tables as Rust source.

use super::functions::{Function, Shape};
use super::solve::Solved;
use std::fmt::Write as _;

/// What stands above the tables.
const HEADER: &str = "\
//! The coefficients of the special functions, solved for from what a GPU answers.
//!
//! Written by `cargo xtask special --solve` on a machine with one (it takes a minute); not to be changed by hand.

use super::interpolator::Table;
";

/// The file that holds the tables.
pub(super) fn source(tables: &[(&Function, Solved)]) -> String {
    let mut text = HEADER.to_owned();
    for (function, solved) in tables {
        table(&mut text, function, solved);
    }
    text
}

fn table(text: &mut String, function: &Function, solved: &Solved) {
    let Function { name, meaning, shape, segments, .. } = function;
    let Shape { constant, square } = shape;
    let _ = write!(
        text,
        "\n/// {meaning}\npub static {name}: Table<{segments}, {constant}, {square}> = \
         Table::new(\n    {},\n    [\n",
        grouped(solved.bias)
    );
    for [c0, c1, c2] in &solved.segments {
        let _ = writeln!(text, "        [{}, {}, {}],", grouped(*c0), grouped(*c1), grouped(*c2));
    }
    text.push_str("    ],\n);\n");
}

/// A number with `_` between groups of three digits, where it has five or more.
fn grouped(number: i32) -> String {
    let digits = number.unsigned_abs().to_string();
    let sign = if number < 0 { "-" } else { "" };
    if digits.len() < 5 {
        return format!("{sign}{digits}");
    }
    let first = digits.len() % 3;
    let groups = digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let head = (first > 0).then(|| digits[..first].to_owned());
    format!("{sign}{}", head.into_iter().chain(groups).collect::<Vec<_>>().join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_their_digits_in_groups() {
        assert_eq!(grouped(-65_534), "-65_534");
        assert_eq!(grouped(1013), "1013");
        assert_eq!(grouped(67_108_863), "67_108_863");
        assert_eq!(grouped(-123_456), "-123_456");
    }
}
