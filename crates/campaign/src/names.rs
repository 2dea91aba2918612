//! Names out of files, where they leave the program: as the name of a file, as words of a terminal, as a cell of a
//! spreadsheet. Whoever made the file chose them, and none of these places may do what they say.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest name of a file that is made of a name, in bytes: with a number and an ending it is below the 255 that file
/// systems allow.
const LONGEST: usize = 180;

/// The longest name that people are shown, in characters: more than the kinds of an outcome with their counts take.
const LONGEST_SHOWN: usize = 400;

/// What begins a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A name as that of a file or a directory: letters, digits, `.`, `_` and `-`, of which none but `_` begins it. What is
/// longer than a file system takes is cut, and ends in a number that other names do not have.
#[must_use]
pub fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let all: String = name.chars().map(plain).collect();
    let plain = all.trim_start_matches(['.', '-']);
    if plain.is_empty() {
        return "unnamed".to_owned();
    }
    if plain.len() <= LONGEST {
        return plain.to_owned();
    }
    let number = format!("-{:016x}", hash(name));
    let end = (0..=LONGEST - number.len()).rev().find(|&end| plain.is_char_boundary(end)).unwrap_or(0);
    format!("{}{number}", &plain[..end])
}

/// Texts that differ have different numbers, almost surely (FNV-1a of 64 bits).
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Text of ours for a terminal: lines and tabs stay, and what would move the cursor, colour the text, or turn its direction
/// round is written as JSON writes it (`\u001b`), so that a document of JSON stays one.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// A name for a terminal: as [`printable`], and on one line.
#[must_use]
pub fn one_line(name: &str) -> Cow<'_, str> {
    escaped(name, |_| false)
}

/// A name for a line that people read: as [`one_line`], and what is longer than any name that somebody chose is cut, with the
/// number of characters that are left out.
#[must_use]
pub fn short(name: &str) -> Cow<'_, str> {
    let Some((end, _)) = name.char_indices().nth(LONGEST_SHOWN) else { return one_line(name) };
    let (kept, rest) = name.split_at(end);
    Cow::Owned(format!("{}… ({} more characters)", one_line(kept), rest.chars().count()))
}

/// A text and blanks, or blanks and a text, in so many columns; a width of a format ends at 65,535.
#[must_use]
pub fn padded(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
    if right { blanks + text } else { format!("{text}{blanks}") }
}

fn escaped(text: &str, layout: fn(char) -> bool) -> Cow<'_, str> {
    let acts = |c: char| !layout(c) && (c.is_control() || turns(c));
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if acts(c) => safe.push_str("\\n"),
            '\t' if acts(c) => safe.push_str("\\t"),
            _ if acts(c) => {
                // All of them are of the first plane.
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            _ => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Whether a character turns the direction of the text around it (Unicode Standard Annex 9), or divides lines where no
/// newline stands.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name as a cell of a CSV: one that a spreadsheet would execute begins with `'`, which makes it text there.
#[must_use]
pub fn cell(name: &str) -> Cow<'_, str> {
    let safe = one_line(name);
    if name.starts_with(FORMULA) { Cow::Owned(format!("'{safe}")) } else { safe }
}

/// The name that [`cell()`] made a cell of.
#[must_use]
pub fn of_cell(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(name) if name.starts_with(FORMULA) => name,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for (name, file) in [
            ("gemm", "gemm"),
            ("größe_2.0-x", "größe_2.0-x"),
            ("../../x", "x"),
            ("/abs", "abs"),
            ("/abs/../olute", "abs-..-olute"),
            ("", "unnamed"),
            ("..", "unnamed"),
            (".bashrc", "bashrc"),
            ("-rf", "rf"),
            ("a\nb\u{1b}[31m", "a-b--31m"),
            ("a\\b c\u{202e}d\0", "a-b-c-d-"),
        ] {
            assert_eq!(file_name(name), file, "{name:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_stays_unlike_others() {
        for letter in ["x", "é"] {
            let (one, other) = (letter.repeat(300), letter.repeat(301));
            assert!(file_name(&one).len() <= LONGEST && file_name(&one).starts_with(letter));
            assert_ne!(file_name(&one), file_name(&other));
            assert_eq!(file_name(&one), file_name(&one));
        }
    }

    #[test]
    fn no_control_character_reaches_a_terminal() {
        assert_eq!(printable("a\tb\n"), "a\tb\n");
        assert!(matches!(printable("größe – 1 234"), Cow::Borrowed(_)));
        assert_eq!(
            printable("\u{1b}]0;t\u{7}\r\u{9b}1m\u{7f}\u{202e}x"),
            "\\u001b]0;t\\u0007\\u000d\\u009b1m\\u007f\\u202ex"
        );
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
        let json = serde_json::to_string("\u{1b}\u{9b}\u{202e}").unwrap();
        assert_eq!(serde_json::from_str::<String>(&printable(&json)).unwrap(), "\u{1b}\u{9b}\u{202e}");
    }

    #[test]
    fn a_long_name_is_cut_where_people_read_it_and_says_so() {
        assert!(matches!(short(&"x".repeat(LONGEST_SHOWN)), Cow::Borrowed(_)));
        let name = format!("\n{}", "é".repeat(70_000));
        let shown = format!("\\n{}… (69601 more characters)", "é".repeat(LONGEST_SHOWN - 1));
        assert_eq!(short(&name), shown);
        assert_eq!(one_line(&name).chars().count(), 70_002);
    }

    #[test]
    fn a_text_is_padded_to_any_width() {
        assert_eq!(padded("é", 3, false), "é  ");
        assert_eq!(padded("é", 3, true), "  é");
        assert_eq!(padded("é", 70_000, false).len(), 70_001);
        assert_eq!(padded("long", 3, true), "long");
    }

    #[test]
    fn no_name_is_a_formula() {
        for name in ["=HYPERLINK(\"x\")", "+1", "-1", "@f", "\t=1", "\r=1"] {
            assert!(cell(name).starts_with('\''), "{name}");
        }
        for name in ["=1+1", "-x", "@y", "plain", "'quoted", "a=b", ""] {
            assert_eq!(of_cell(&cell(name)), name);
        }
        assert_eq!(cell("K, \"1\""), "K, \"1\"");
    }
}
