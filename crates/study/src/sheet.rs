//! Rows for other programs: columns of integers and of texts, as a file of data has them.

/// A table of many rows that a program reads, not a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The name of its schema.
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<SheetColumn>,
    /// The rows, each with a value for every column.
    pub rows: Vec<Vec<SheetValue>>,
}

/// A column of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetColumn {
    /// Its name.
    pub name: &'static str,
    /// Whether its values are integers; if not, they are texts.
    pub integer: bool,
    /// Whether every row has a value.
    pub required: bool,
}

/// A value of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SheetValue {
    /// The row has none.
    Absent,
    /// An integer.
    Integer(u64),
    /// A text.
    Text(String),
}

impl SheetValue {
    /// The integer, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }
}

impl From<u64> for SheetValue {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for SheetValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<SheetValue>> From<Option<T>> for SheetValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}
