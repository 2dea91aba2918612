//! Studies as text, as Markdown and as plots.

mod cells;
mod letters;
mod picture;
mod plot;

use crate::text::table;
use ::study::{Cell, Study, Table};

pub use picture::png;
pub use plot::svg;

/// A study for a terminal.
#[must_use]
pub fn text(study: &Study) -> String {
    let mut text = lines([&study.title, &study.method]);
    for it in &study.tables {
        let between = if text.is_empty() || it.title.is_empty() { "" } else { "\n" };
        text += &format!("{between}{}{}", lines([&it.title]), of_table(it));
    }
    text
}

/// Each of these that says something, as a line.
fn lines<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    texts.into_iter().filter(|text| !text.is_empty()).map(|text| format!("{text}\n")).collect()
}

/// A table for a terminal, without its title.
fn of_table(it: &Table) -> String {
    let columns: Vec<&str> = it.columns.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = it.rows.iter().map(|row| row.iter().map(cells::plain).collect()).collect();
    let notes = it.notes.iter().map(|note| format!("{note}\n"));
    table(&columns, &alignment(it), &rows) + &notes.collect::<String>()
}

/// A table as Markdown, without its title.
#[must_use]
pub fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = |side: char| if side == '>' { "---:".to_owned() } else { "---".to_owned() };
    let mut text = line(table.columns.iter().map(|name| cells::escaped(name)).collect());
    text += &line(alignment(table).chars().map(rule).collect());
    for row in &table.rows {
        text += &line(row.iter().map(cells::markdown).collect());
    }
    table.notes.iter().fold(text, |text, note| format!("{text}\n{}\n", cells::escaped(note)))
}

/// Columns of words at the left, others at the right.
fn alignment(table: &Table) -> String {
    let words = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.any(|cell| matches!(cell, Cell::Text(_)))
    };
    (0..table.columns.len()).map(|column| if words(column) { '<' } else { '>' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_of_all() -> Table {
        let mut table = Table::new("t", &["kernel", "runs", "rate"]);
        let rate = Cell::Rate { rate: 0.25, low: 0.2, high: 0.31 };
        table.rows.push(vec![Cell::text("a|b"), Cell::Count(12_345), rate]);
        table.rows.push(vec![Cell::text("c"), Cell::None, Cell::Share(0.5)]);
        table
    }

    #[test]
    fn a_table_is_the_same_in_text_and_in_markdown() {
        let study = Study { tables: vec![table_of_all()], ..Study::new("x", "Title", "Method.") };
        let expected = "Title\nMethod.\n\nt\nkernel    runs                   rate\na|b     12 345  25.00 (20.00–31.00) %\nc            –                50.00 %\n";
        assert_eq!(text(&study), expected);
        let expected = "| kernel | runs | rate |\n| --- | ---: | ---: |\n| a\\|b | 12 345 | 25.00 (20.00–31.00) % |\n| c | – | 50.00 % |\n";
        assert_eq!(markdown(&table_of_all()).replace('\u{202f}', " "), expected);
    }
}
