//! The table `run` as it is, value by value, for files that other programs read.

use rusqlite::types::ValueRef;

use super::columns::{Column, columns, names};
use super::error::StoreError;
use super::file::Rows;

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

impl Rows {
    /// The columns of the table `run`, in order.
    pub(super) fn columns(&self) -> Vec<Column> {
        columns(&self.labels)
    }

    /// Calls `visit` with the values of each row, in the order of [`columns`](Self::columns), by ascending run.
    pub(super) fn visit_values(&self, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<(), StoreError> {
        let columns = self.columns();
        self.each(&format!("SELECT {} FROM run ORDER BY run", names(&self.labels)), [], |row| {
            let mut values = Vec::with_capacity(columns.len());
            for (index, column) in columns.iter().enumerate() {
                let value = row.get_ref(index).map_err(|error| error.to_string())?;
                values.push(convert(value).ok_or_else(|| format!("`{}` is neither a number nor text", column.name))?);
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
