//! The table `run` as it is, value by value, for files that other programs read.

use rusqlite::types::ValueRef;

use super::row::COLUMNS;
use super::rows::Rows;
use crate::store::StoreError;

/// A column of the table `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Whether it holds integers; else it holds text.
    pub integer: bool,
    /// Whether every row has a value.
    pub required: bool,
}

/// A value of the table `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// None.
    Null,
    /// A number; what is a truth is 0 or 1.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

/// The columns, in order.
pub(super) fn columns() -> Vec<Column> {
    let column = |&(name, declaration): &(&'static str, &str)| Column {
        name,
        integer: declaration.starts_with("INTEGER"),
        // A CHECK may speak of NOT NULL as well.
        required: declaration
            .split_once(' ')
            .is_some_and(|(_, rest)| rest.starts_with("NOT NULL") || rest.starts_with("PRIMARY KEY")),
    };
    COLUMNS.iter().map(column).collect()
}

impl Rows {
    /// Calls `visit` with the values of each row, in the order of [`columns`], by ascending run.
    pub(super) fn visit_values(&self, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<(), StoreError> {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
        self.each(&format!("SELECT {} FROM run ORDER BY run", names.join(", ")), [], |row| {
            let mut values = Vec::with_capacity(names.len());
            for (index, name) in names.iter().enumerate() {
                let value = row.get_ref(index).map_err(|error| error.to_string())?;
                values.push(convert(value).ok_or_else(|| format!("`{name}` is neither a number nor text"))?);
            }
            visit(&values);
            Ok(())
        })
    }
}

fn convert(value: ValueRef<'_>) -> Option<Value<'_>> {
    match value {
        ValueRef::Null => Some(Value::Null),
        ValueRef::Integer(number) => Some(Value::Integer(number)),
        ValueRef::Text(text) => std::str::from_utf8(text).ok().map(Value::Text),
        ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}
