//! Values of tables as people read them.

use campaign::names::{one_line, printable};

use crate::number::{bounded, bounds, count, percent, plain as spaced, real};
use study::Cell;

/// A value in plain text.
pub(super) fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Count(n) => spaced(*n),
        other => shared(other),
    }
}

/// A value in Markdown.
pub(super) fn markdown(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => escaped(&one_line(text)),
        Cell::Count(n) => count(*n),
        other => shared(other),
    }
}

/// Words that cannot end a cell.
pub(super) fn escaped(text: &str) -> String {
    printable(text).replace('|', "\\|").replace('_', "\\_").replace('*', "\\*").replace('<', "&lt;")
}

fn shared(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(n) => n.to_string(),
        Cell::Share(share) => format!("{} %", percent(*share)),
        Cell::Rate { rate, low, high } => bounded(*rate, *low, *high),
        Cell::Bounds { low, high } => format!("{} %", bounds(*low, *high)),
        Cell::Difference(difference) => format!("{:+.2}", difference * 100.0),
        Cell::Number(number) => real(*number),
        Cell::Quantity { value, low, high } => format!("{} ({} to {})", real(*value), real(*low), real(*high)),
        Cell::None => "–".to_owned(),
    }
}
