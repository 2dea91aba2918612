//! Rows for other programs: columns of integers and of texts, as a file of data has them.

use std::sync::Arc;

/// Visits rows, each with a value for every column, until a visit gives `false`.
type Rows = Box<dyn Fn(&mut dyn FnMut(&[SheetValue]) -> bool)>;

/// A table of many rows that a program reads, not a person. Its rows are made one by one, so that they need no memory.
pub struct Sheet {
    /// The name of its schema.
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<SheetColumn>,
    rows: Rows,
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
    Text(Arc<str>),
}

impl Sheet {
    /// One whose rows `rows` visits, the same at each call, until its visit gives `false`.
    pub fn of_visits(
        name: &'static str,
        columns: Vec<SheetColumn>,
        rows: impl Fn(&mut dyn FnMut(&[SheetValue]) -> bool) + 'static,
    ) -> Self {
        Self { name, columns, rows: Box::new(rows) }
    }

    /// Visits the rows, each with a value for every column, until a visit gives `false`.
    pub fn visit(&self, each: &mut dyn FnMut(&[SheetValue]) -> bool) {
        (self.rows)(each);
    }
}

impl SheetColumn {
    /// Columns by their names, whether they are integers, and whether every row has a value.
    #[must_use]
    pub fn all<const N: usize>(columns: [(&'static str, bool, bool); N]) -> Vec<Self> {
        columns.map(|(name, integer, required)| Self { name, integer, required }).to_vec()
    }
}

impl SheetValue {
    /// The integer, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl From<u64> for SheetValue {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for SheetValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<SheetValue>> From<Option<T>> for SheetValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}
