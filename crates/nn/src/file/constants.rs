//! The tensors that a file holds: scales, zero points, weights, biases.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rten_onnx::onnx::{DataLocation, DataType, GraphProto, TensorProto};

use super::error::{CONSTANT, FileError, content};
use crate::arithmetic::Quantisation;

/// The constants of a file by their names.
pub(super) struct Constants<'f>(BTreeMap<&'f str, Cow<'f, TensorProto>>);

/// One whole number, or a list of them.
pub(super) struct Integers {
    /// Whether it is a list.
    pub(super) is_list: bool,
    /// The only one, or all.
    pub(super) numbers: Vec<i64>,
}

/// Weights as a file has them.
pub(super) struct Weights {
    /// The sizes of their tensor.
    pub(super) dims: Vec<usize>,
    /// The weights.
    pub(super) stored: Vec<i8>,
    /// Their scales.
    pub(super) scales: Vec<f32>,
}

impl<'f> Constants<'f> {
    pub(super) fn of(graph: &'f GraphProto) -> Self {
        let named =
            graph.initializer.iter().filter_map(|tensor| Some((tensor.name.as_deref()?, Cow::Borrowed(tensor))));
        let nodes = graph.node.iter().filter(|node| node.op_type.as_deref() == Some(CONSTANT));
        let made = nodes.filter_map(|node| {
            let tensor = node.attribute.iter().find_map(|attribute| match attribute.name.as_deref() {
                Some("value_float") => Some(Cow::Owned(one(attribute.f?))),
                _ => attribute.t.as_ref().map(Cow::Borrowed),
            })?;
            Some((node.output.first()?.as_str(), tensor))
        });
        let mut constants: BTreeMap<_, _> = named.chain(made).collect();
        // Constants that are equal are written once, and have several names.
        for node in graph.node.iter().filter(|node| node.op_type.as_deref() == Some("Identity")) {
            if let (Some(input), Some(output)) = (node.input.first(), node.output.first())
                && let Some(constant) = constants.get(input.as_str()).cloned()
            {
                constants.insert(output, constant);
            }
        }
        Self(constants)
    }

    /// Takes numbers of floating point as another constant of these sizes.
    pub(super) fn insert(&mut self, name: &'f str, dims: &[usize], numbers: Vec<f32>) {
        let dims = dims.iter().map(|&size| size as i64).collect();
        let tensor =
            TensorProto { data_type: Some(DataType::FLOAT), dims, float_data: numbers, ..TensorProto::default() };
        self.0.insert(name, Cow::Owned(tensor));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A tensor of a type, its sizes and its bytes, little-endian; `bytes` is the size of an element.
    fn raw(&self, name: &str, expected: DataType, bytes: usize) -> Result<(Vec<usize>, Vec<u8>), FileError> {
        let place = || format!("the constant `{name}`");
        let tensor = self.0.get(name).ok_or_else(|| content(place(), "the file does not hold it"))?;
        if tensor.data_type != Some(expected) {
            let found = tensor.data_type.map_or_else(|| "no type".to_owned(), |found| found.to_string());
            return Err(content(place(), format!("expected the type {expected}, found {found}")));
        }
        if tensor.data_location == Some(DataLocation::EXTERNAL) {
            return Err(content(
                place(),
                "a node makes it, and its data lie in another file; expected such of initializers alone",
            ));
        }
        let dims: Option<Vec<usize>> = tensor.dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
        let dims = dims.ok_or_else(|| content(place(), format!("expected sizes from 0, found {:?}", tensor.dims)))?;
        let count = dims.iter().try_fold(bytes, |product, &dim| product.checked_mul(dim));
        let data = match &tensor.raw_data {
            Some(data) => data.borrow().clone(),
            None if expected == DataType::FLOAT => {
                tensor.float_data.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
            None if bytes == 8 => tensor.int64_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
            None if bytes == 4 => tensor.int32_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
            None => tensor.int32_data.iter().map(|&value| value as u8).collect(),
        };
        if count != Some(data.len()) {
            return Err(content(place(), format!("{dims:?} elements of {bytes} bytes, found {} bytes", data.len())));
        }
        Ok((dims, data))
    }

    /// Numbers of floating point.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f32>, FileError> {
        let (_, data) = self.raw(name, DataType::FLOAT, 4)?;
        Ok(data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }

    /// Numbers of floating point and the sizes of their tensor; each of them is finite.
    pub(super) fn finite(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), FileError> {
        let (dims, data) = self.raw(name, DataType::FLOAT, 4)?;
        let values: Vec<f32> = data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => {
                let what = format!("its element {at} is {}; expected finite numbers", values[at]);
                Err(content(format!("the constant `{name}`"), what))
            }
            None => Ok((dims, values)),
        }
    }

    /// Whole numbers of 64 bits, such as a shape has.
    pub(super) fn longs(&self, name: &str) -> Result<Vec<i64>, FileError> {
        Ok(self.indices(name)?.1)
    }

    /// Whole numbers of 64 bits, or of 32, and the sizes of their tensor.
    pub(super) fn indices(&self, name: &str) -> Result<(Vec<usize>, Vec<i64>), FileError> {
        if self.0.get(name).is_some_and(|tensor| tensor.data_type == Some(DataType::INT32)) {
            let (dims, data) = self.raw(name, DataType::INT32, 4)?;
            return Ok((dims, data.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes).into()).collect()));
        }
        let (dims, data) = self.raw(name, DataType::INT64, 8)?;
        Ok((dims, data.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()))
    }

    /// Whole numbers of 32 bits.
    pub(super) fn integers(&self, name: &str) -> Result<Vec<i32>, FileError> {
        let (_, data) = self.raw(name, DataType::INT32, 4)?;
        Ok(data.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect())
    }

    /// Signed bytes and the sizes of their tensor.
    pub(super) fn bytes(&self, name: &str) -> Result<(Vec<usize>, Vec<i8>), FileError> {
        let (dims, data) = self.raw(name, DataType::INT8, 1)?;
        Ok((dims, data.iter().map(|&byte| byte as i8).collect()))
    }

    /// The scale and the zero point that inputs `at` and `at + 1` of a node name.
    pub(super) fn quantisation(&self, inputs: &[String], at: usize) -> Result<Quantisation, FileError> {
        let name = |at: usize| inputs.get(at).map_or("", String::as_str);
        let place = || format!("the constant `{}`", name(at));
        let &[scale] = &self.floats(name(at))?[..] else {
            return Err(content(place(), "a tensor has one scale"));
        };
        if !(scale.is_finite() && scale > 0.0) {
            return Err(content(place(), format!("a scale is finite and above 0, found {scale}")));
        }
        let zero = self.zero(name(at + 1))?;
        Ok(Quantisation { scale, zero })
    }

    /// Whether a zero point is that of signed bytes.
    pub(super) fn is_signed(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|tensor| tensor.data_type == Some(DataType::INT8))
    }

    /// A zero point; one without a name is 0. Signed bytes are kept with 128 added, and so are their zero points: products and sums
    /// are then the same, and so is every bit but the highest, which is the opposite one.
    pub(super) fn zero(&self, name: &str) -> Result<u8, FileError> {
        if name.is_empty() {
            return Ok(0);
        }
        let (kind, shift) = if self.is_signed(name) { (DataType::INT8, 128) } else { (DataType::UINT8, 0) };
        match self.raw(name, kind, 1)?.1[..] {
            [zero] => Ok(zero.wrapping_add(shift)),
            _ => Err(content(format!("the constant `{name}`"), "a tensor has one zero point")),
        }
    }

    /// Weights with their sizes, and a scale for each of `channels`; their zero points have to be 0.
    pub(super) fn weights(&self, inputs: &[String], at: usize) -> Result<Weights, FileError> {
        let name = |at: usize| inputs.get(at).map_or("", String::as_str);
        let (dims, stored) = self.bytes(name(at))?;
        let scales = self.floats(name(at + 1))?;
        let zeros = if name(at + 2).is_empty() { Vec::new() } else { self.bytes(name(at + 2))?.1 };
        if let Some(zero) = zeros.iter().find(|&&zero| zero != 0) {
            return Err(content(
                format!("the constant `{}`", name(at + 2)),
                format!("weights have the zero point 0, found {zero}"),
            ));
        }
        Ok(Weights { dims, stored, scales })
    }
}

/// A number of floating point as a tensor without sizes.
fn one(number: f32) -> TensorProto {
    TensorProto { data_type: Some(DataType::FLOAT), float_data: vec![number], ..TensorProto::default() }
}
