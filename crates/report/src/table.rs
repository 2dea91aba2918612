//! Tables, as plain text and as Markdown.

use campaign::names::{padded, short};
use std::borrow::Cow;

/// Whether a column is of numbers.
fn is_right(align: &str, column: usize) -> bool {
    align.chars().nth(column).or(align.chars().last()) == Some('>')
}

/// A table as plain text. `align` says for each column whether it is text (`<`) or numbers (`>`); the last one is for all the rest.
/// Columns are set apart by two spaces, and nothing follows the last.
#[must_use]
pub fn plain(header: &[&str], align: &str, rows: &[Vec<String>]) -> String {
    // Cells are names out of files, too: each stays on its line, and none makes the others as wide as it likes.
    let rows: Vec<Vec<Cow<'_, str>>> = std::iter::once(header.iter().map(|cell| short(cell)).collect())
        .chain(rows.iter().map(|row| row.iter().map(|cell| short(cell)).collect()))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &Vec<Cow<'_, str>>, column: usize| row.get(column).map_or(0, |text| text.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, &width) in widths.iter().enumerate() {
            let (value, gap) = (row.get(column).map_or("", |cell| cell.as_ref()), if column == 0 { "" } else { "  " });
            line += gap;
            line += &padded(value, width, is_right(align, column));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A table as Markdown, whose cells are Markdown already; `align` as in [`plain`].
pub(crate) fn markdown(header: &[&str], align: &str, rows: &[Vec<String>]) -> String {
    let rules: Vec<&str> =
        (0..header.len()).map(|column| if is_right(align, column) { "---:" } else { "---" }).collect();
    let mut text = format!("| {} |\n| {} |\n", header.join(" | "), rules.join(" | "));
    for row in rows {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_and_nothing_trails() {
        let rows = [vec!["é".to_owned(), "1".to_owned(), "x".to_owned()], vec!["long".to_owned(), "10 000".to_owned()]];
        assert_eq!(plain(&["name", "n"], "<><", &rows), "name       n\né          1  x\nlong  10 000\n");
    }

    #[test]
    fn a_name_cannot_make_lines_of_its_own() {
        let rows = [vec!["k\nb  9\u{1b}[2J".to_owned(), "1".to_owned()]];
        assert_eq!(plain(&["name", "n"], "<>", &rows), "name              n\nk\\nb  9\\u001b[2J  1\n");
    }

    #[test]
    fn a_name_of_any_length_is_cut() {
        let rows = [vec!["k".repeat(70_000), "1".to_owned()], vec!["b".to_owned(), "2".to_owned()]];
        let text = plain(&["name", "n"], "<>", &rows);
        assert!(text.contains("kkk… (69600 more characters)  1\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 450), "{text}");
    }

    #[test]
    fn a_table_says_how_its_columns_are_aligned() {
        assert_eq!(
            markdown(&["a", "n"], "<>", &[vec!["x".into(), "1".into()]]),
            "| a | n |\n| --- | ---: |\n| x | 1 |\n"
        );
    }
}
