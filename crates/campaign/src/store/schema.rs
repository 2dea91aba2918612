//! Whether a file has the tables that it should have, and they are what this program made: a view in the place of a table
//! would show rows that nobody wrote, and a table that was made again need not refuse what ours does.

use super::error::StoreError;
use super::file::{Rows, get};
use super::{columns, labels, origin, races, registers, strata, units};

/// Tables that every file has, and those that some have.
const ALWAYS: [&str; 3] = [origin::TABLES, labels::TABLE, races::TABLE];
const SOME: [&str; 4] = [strata::TABLE, registers::TABLE, units::TABLES, units::WEIGHTS];

/// Refuses a file in which something other than a table has the name of one.
pub(super) fn has_no_views(rows: &Rows) -> Result<(), StoreError> {
    let known: Vec<&str> =
        ALWAYS.iter().chain(&SOME).flat_map(|text| statements(text)).map(name).chain(["run"]).collect();
    rows.each("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')", [], |row| {
        let (name, kind): (String, String) = (get(row, 0)?, get(row, 1)?);
        if kind != "table" && known.contains(&name.as_str()) {
            return Err(format!("`{name}` is a {kind}, where a table is expected"));
        }
        Ok(())
    })
}

/// Refuses a file that lacks a table, or has one that was made otherwise. The labels are known.
pub(super) fn check(rows: &Rows) -> Result<(), StoreError> {
    let mut found: Vec<(String, String)> = Vec::new();
    rows.each("SELECT name, sql FROM sqlite_schema WHERE type = 'table'", [], |row| {
        found.push((get(row, 0)?, words(&get::<String>(row, 1)?)));
        Ok(())
    })?;
    let run = columns::table(&rows.labels);
    let always = ALWAYS.iter().flat_map(|text| statements(text)).chain(statements(&run)).map(|sql| (sql, true));
    let some = SOME.iter().flat_map(|text| statements(text)).map(|sql| (sql, false));
    for (sql, needed) in always.chain(some) {
        let name = name(sql);
        match found.iter().find(|(found, _)| found == name) {
            Some((_, found)) if *found == words(sql) => {}
            Some((_, found)) => {
                let expected = words(sql);
                return Err(rows.damaged(format!("its table `{name}` is `{found}`, which can only be `{expected}`")));
            }
            None if needed => return Err(rows.damaged(format!("it has no table `{name}`"))),
            None => {}
        }
    }
    Ok(())
}

/// The statements of a text.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty())
}

/// The name of the table that a statement makes.
fn name(statement: &str) -> &str {
    statement.split([' ', '(']).nth(2).unwrap_or_default()
}

/// A statement with one space wherever it has some.
fn words(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}
