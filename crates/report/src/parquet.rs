//! Rows as a Parquet file, for pandas, Polars, DuckDB and R.
//!
//! A sampled campaign gives every column of the store's table `run`, in its words and types: integers are `INT64`, texts are
//! `BYTE_ARRAY` with the logical type `STRING`, and what a row may lack is optional. An exhaustive campaign gives its
//! counts: one row for each bit of each operand and outcome; a fault weighs `weight` over `inverse_weight`. The file is written
//! in groups of rows, so that memory does not grow with it.

use std::io::Write;
use std::sync::Arc;

use campaign::{Results, StoreError, Value};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use study::SheetValue;

/// Rows of a group: large enough to compress, small enough for memory.
const GROUP: usize = 50_000;

/// Why rows could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ParquetFailure {
    /// The results cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("write the Parquet file")]
    Write(#[from] ParquetError),
}

/// A column while its rows are collected.
enum Column {
    Integer {
        values: Vec<i64>,
        there: Vec<i16>,
        required: bool,
    },
    /// All texts in one piece, and where each ends: an allocation for each would take most of the time.
    Text {
        bytes: Vec<u8>,
        ends: Vec<usize>,
        there: Vec<i16>,
        required: bool,
    },
}

impl Column {
    fn new(integer: bool, required: bool) -> Self {
        match integer {
            true => Self::Integer { values: Vec::new(), there: Vec::new(), required },
            false => Self::Text { bytes: Vec::new(), ends: Vec::new(), there: Vec::new(), required },
        }
    }

    /// Adds a value of the column's type; any other is none, which a STRICT table does not have.
    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Integer { values, there, .. }, Value::Integer(number)) => {
                values.push(number);
                there.push(1);
            }
            (Self::Text { bytes, ends, there, .. }, Value::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                there.push(1);
            }
            (Self::Integer { there, .. } | Self::Text { there, .. }, _) => there.push(0),
        }
    }

    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, required) = match self {
            Self::Integer { required, .. } => (Physical::INT64, *required),
            Self::Text { required, .. } => (Physical::BYTE_ARRAY, *required),
        };
        let logical = matches!(self, Self::Text { .. }).then_some(LogicalType::String);
        let repetition = if required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()
    }

    /// Writes what was collected, and forgets it.
    fn flush<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        match self {
            Self::Integer { values, there, required } => {
                let levels = (!*required).then_some(there.as_slice());
                column.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
                there.clear();
            }
            Self::Text { bytes, ends, there, required } => {
                let levels = (!*required).then_some(there.as_slice());
                let (all, mut start) = (ByteArray::from(std::mem::take(bytes)), 0);
                let slice = |end: usize| {
                    let from = std::mem::replace(&mut start, end);
                    all.slice(from, end - from)
                };
                let values: Vec<ByteArray> = ends.drain(..).map(slice).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
                there.clear();
            }
        }
        column.close()
    }
}

/// A file that rows are added to.
struct Sheet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> Sheet<W> {
    fn begin(file: W, name: &str, columns: Vec<(&str, Column)>) -> Result<Self, ParquetError> {
        let fields = columns.iter().map(|(name, column)| Ok(Arc::new(column.field(name)?)));
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("beamline {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        Ok(Self { writer, columns: columns.into_iter().map(|(_, column)| column).collect(), rows: 0 })
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<(), ParquetError> {
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(*value));
        self.rows += 1;
        if self.rows.is_multiple_of(GROUP) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            column.flush(&mut group)?;
        }
        group.close().map(drop)
    }

    fn finish(mut self) -> Result<u64, ParquetError> {
        if !self.rows.is_multiple_of(GROUP) {
            self.flush()?;
        }
        self.writer.close()?;
        Ok(self.rows as u64)
    }
}

/// Writes the rows of a campaign, or the counts of an exhaustive one, into `file`. Returns how many rows it has.
///
/// # Errors
/// When the results cannot be read or the file cannot be written.
pub fn write_parquet<W: Write + Send>(results: &Results, file: W) -> Result<u64, ParquetFailure> {
    if results.config().size == campaign::Size::Exhaustive {
        return counts(results, file);
    }
    let columns = results.columns();
    let columns = columns.iter().map(|column| (&*column.name, Column::new(column.integer, column.required)));
    let mut sheet = Sheet::begin(file, "run", columns.collect())?;
    // The first failure; what comes after it is not written.
    let mut failure = None;
    results.visit_values(&mut |values| {
        if failure.is_none() {
            failure = sheet.row(values).err();
        }
    })?;
    failure.map_or(Ok(()), Err)?;
    Ok(sheet.finish()?)
}

/// Writes a sheet into `file`. Returns how many rows it has.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sheet<W: Write + Send>(sheet: &study::Sheet, file: W) -> Result<u64, ParquetFailure> {
    let columns = sheet.columns.iter().map(|column| (column.name, Column::new(column.integer, column.required)));
    let mut written = Sheet::begin(file, sheet.name, columns.collect())?;
    let mut failure = None;
    sheet.visit(&mut |row| {
        failure = written.row(&row.iter().map(sheet_value).collect::<Vec<_>>()).err();
        failure.is_none()
    });
    failure.map_or(Ok(()), Err)?;
    Ok(written.finish()?)
}

/// A value of a sheet as one of a row.
fn sheet_value(value: &SheetValue) -> Value<'_> {
    match value {
        SheetValue::Absent => Value::Null,
        SheetValue::Integer(number) => Value::Integer(i64::try_from(*number).unwrap_or(i64::MAX)),
        SheetValue::Text(text) => Value::Text(text),
    }
}

/// The columns of the counts of an exhaustive campaign: name, whether they are integers, whether every row has a value.
const COUNTS: [(&str, bool, bool); 15] = [
    ("kernel", false, true),
    ("pc", true, true),
    ("file", false, false),
    ("line", true, false),
    ("instruction_group", false, true),
    ("opcode", false, true),
    ("target", false, true),
    ("elements", true, true),
    ("width", true, true),
    ("bit", true, true),
    ("outcome", false, true),
    ("kind", false, false),
    ("count", true, true),
    ("inverse_weight", true, true),
    ("weight", true, true),
];

fn counts<W: Write + Send>(results: &Results, file: W) -> Result<u64, ParquetFailure> {
    let (operands, counts) = (results.operands()?, results.counts()?);
    let columns = COUNTS.iter().map(|&(name, integer, required)| (name, Column::new(integer, required)));
    let mut sheet = Sheet::begin(file, "count", columns.collect())?;
    for count in &counts {
        let Some(operand) = operands.get(count.operand as usize) else { continue };
        let number = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let kind = count.outcome.kind();
        let (spot, elements, bits) = (&operand.spot, u64::from(operand.elements), u64::from(operand.bits));
        sheet.row(&[
            Value::Text(&spot.kernel),
            number(spot.pc.into()),
            spot.file.as_deref().map_or(Value::Null, Value::Text),
            spot.line.map_or(Value::Null, |line| number(line.into())),
            Value::Text(&spot.group),
            Value::Text(&spot.opcode),
            Value::Text(&spot.target),
            number(elements),
            number(bits),
            number(count.bit.into()),
            Value::Text(count.outcome.class().word()),
            kind.as_deref().map_or(Value::Null, Value::Text),
            number(count.count),
            number(elements * bits),
            number(operand.weight),
        ])?;
    }
    Ok(sheet.finish()?)
}
