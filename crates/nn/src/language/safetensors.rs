//! Files of safetensors: eight bytes with the length of a header, the header as JSON, and the bytes of the tensors.
//!
//! Tensors of F32, F16 and BF16 are read, all as 32 bits. What is wrong with a file is an error that names the place.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::float::ValueFormat;

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its sizes, the outermost first.
    pub shape: Vec<usize>,
    /// Its values, row after row.
    pub values: Vec<f32>,
}

/// The tensors of a file by their names, and its notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// The tensors.
    pub tensors: BTreeMap<String, Tensor>,
    /// The texts under `__metadata__`.
    pub metadata: BTreeMap<String, String>,
}

/// Why bytes are not a file of tensors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorFileError {
    /// The file ends before its header does.
    #[error(
        "read the header: it has {header} bytes by the first eight, and the file has {file}; it is cut off, or not safetensors"
    )]
    Truncated {
        /// The bytes of the header.
        header: u64,
        /// The bytes of the file.
        file: u64,
    },
    /// The header is not what a header is.
    #[error("read the header: {message}; expected JSON with dtype, shape and data_offsets of each tensor")]
    Header {
        /// The reader's words.
        message: String,
    },
    /// Values of another type.
    #[error("read the tensor `{name}`: its values are {found}; expected F32, F16 or BF16")]
    Type {
        /// The tensor.
        name: String,
        /// The type.
        found: String,
    },
    /// Offsets that lie outside of the file, or do not fit the shape.
    #[error(
        "read the tensor `{name}`: its shape takes {expected} bytes, its offsets are {first} to {end}, and the file has {file} behind its header"
    )]
    Range {
        /// The tensor.
        name: String,
        /// The bytes of its shape.
        expected: u64,
        /// The first byte.
        first: u64,
        /// The byte after the last.
        end: u64,
        /// All bytes.
        file: u64,
    },
    /// A value that is not finite.
    #[error("read the tensor `{name}`: value {at} is {value}; expected finite numbers")]
    NotFinite {
        /// The tensor.
        name: String,
        /// The value, by its number in the tensor.
        at: usize,
        /// The value as text.
        value: String,
    },
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// Reads a file.
///
/// # Errors
/// When it is cut off or damaged, or has values of another type or that are not finite.
pub fn read_tensors(bytes: &[u8]) -> Result<TensorFile, TensorFileError> {
    let length = bytes.first_chunk::<8>().map_or(u64::MAX, |length| u64::from_le_bytes(*length));
    let rest = bytes.get(8..).unwrap_or_default();
    let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let (header, data) = split.ok_or(TensorFileError::Truncated { header: length, file: bytes.len() as u64 })?;
    let of_json = |error: serde_json::Error| TensorFileError::Header { message: error.to_string() };
    let header: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header).map_err(of_json)?;
    let mut file = TensorFile::default();
    for (name, value) in header {
        if name == "__metadata__" {
            file.metadata = serde_json::from_value(value).map_err(of_json)?;
        } else {
            let tensor = tensor(&name, &serde_json::from_value(value).map_err(of_json)?, data)?;
            file.tensors.insert(name, tensor);
        }
    }
    Ok(file)
}

fn tensor(name: &str, entry: &Entry, data: &[u8]) -> Result<Tensor, TensorFileError> {
    let name = || name.to_owned();
    let size = match entry.dtype.as_str() {
        "F32" => 4,
        "F16" | "BF16" => 2,
        found => return Err(TensorFileError::Type { name: name(), found: found.to_owned() }),
    };
    let [first, end] = entry.data_offsets;
    let expected = entry.shape.iter().fold(size, |bytes: u64, &axis| bytes.saturating_mul(axis));
    let range =
        usize::try_from(first).ok().zip(usize::try_from(end).ok()).and_then(|(first, end)| data.get(first..end));
    let found = range.filter(|found| found.len() as u64 == expected);
    let found =
        found.ok_or_else(|| TensorFileError::Range { name: name(), expected, first, end, file: data.len() as u64 })?;
    let values: Vec<f32> = match entry.dtype.as_str() {
        "F32" => found.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        word => {
            let format = if word == "F16" { ValueFormat::Fp16 } else { ValueFormat::Bf16 };
            let stored = found.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
            stored.map(|stored| format.value(stored.into())).collect()
        }
    };
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Err(TensorFileError::NotFinite { name: name(), at, value: values[at].to_string() });
    }
    Ok(Tensor { shape: entry.shape.iter().map(|&axis| axis as usize).collect(), values })
}
