//! Files of rows between phases: CSV that people read and edit.
//!
//! A text that a spreadsheet would execute has a `'` before it, which is no part of it.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A row whose texts can be changed, all in the same way.
pub(super) trait Row: Clone + Serialize + DeserializeOwned {
    /// The name of a file of them, and its columns.
    const ABOUT: [&'static str; 2];
    /// The columns without which a row says nothing.
    const NEEDED: &'static [&'static str];

    fn texts(&mut self) -> Vec<&mut String>;
}

/// Reads rows.
///
/// # Errors
/// With the line, if one cannot be understood, or if there is none.
pub(super) fn read<R: Row>(text: &str) -> Result<Vec<R>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(false).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let [what, columns] = R::ABOUT;
    if let Some(missing) = R::NEEDED.iter().find(|name| !headers.iter().any(|it| it == **name)) {
        return Err(format!("line 1: there is no column `{missing}`; a {what} has {columns}"));
    }
    let rows: Result<Vec<R>, String> =
        reader.deserialize().map(|row| row.map_err(|error: csv::Error| error.to_string())).collect();
    let mut rows = rows?;
    for text in rows.iter_mut().flat_map(R::texts) {
        *text = campaign::names::of_cell(text).to_owned();
    }
    if rows.is_empty() { Err(format!("there is no row in the {what}")) } else { Ok(rows) }
}

/// The text of rows.
///
/// # Errors
/// Never for rows of texts; what the writer says otherwise.
pub(super) fn text<R: Row>(rows: &[R]) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let mut row = row.clone();
        for text in row.texts() {
            *text = campaign::names::cell(text).into_owned();
        }
        writer.serialize(&row).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
