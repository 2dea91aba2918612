//! A small language model as data: a decoder with learned positions, in the names and layouts of GPT-2.
//!
//! | tensor of the file | part |
//! |---|---|
//! | `wte.weight` (token, channel) | `embed`; also the matrix that makes logits, unless `lm_head.weight` is there |
//! | `wpe.weight` (position, channel) | `position` |
//! | `h.0.ln_1`, `h.0.ln_2`, `ln_f`, `.weight` and `.bias` | `h0.ln1`, `h0.ln2`, `ln_f` |
//! | `h.0.attn.c_attn` (input, three times output) | `h0.q`, `h0.k`, `h0.v` |
//! | `h.0.attn.c_proj`, `h.0.mlp.c_fc`, `h.0.mlp.c_proj` (input, output) | `h0.proj`, `h0.fc`, `h0.out` |
//!
//! Names may begin with `transformer.`. The number of heads is in the metadata, as `heads`.

use super::parts::{self, ModelPart, ModelShape};
use super::safetensors::{Tensor, TensorFile, TensorFileError, read_tensors};
use crate::float::ValueFormat;

/// The stored numbers of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Its weight, row after row.
    pub weight: Vec<f32>,
    /// Its bias.
    pub bias: Vec<f32>,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct LanguageModel {
    name: String,
    shape: ModelShape,
    format: ValueFormat,
    parts: Vec<ModelPart>,
    parameters: Vec<Parameters>,
    /// The part whose table makes the logits.
    head_part: usize,
    /// That table as (channel, token).
    head: Vec<f32>,
}

/// Why a file is not a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It is not a file of tensors.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// A tensor is missing.
    #[error("find the tensor `{name}`: the file has none; expected the names of GPT-2")]
    Missing {
        /// The tensor.
        name: String,
    },
    /// A tensor has another shape.
    #[error("read the tensor `{name}`: its shape is {found:?}, expected {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its sizes.
        found: Vec<usize>,
        /// The sizes that it would have.
        expected: Vec<usize>,
    },
    /// A tensor is not a matrix.
    #[error("read the tensor `{name}`: its shape is {found:?}, expected two sizes above 0")]
    NoMatrix {
        /// The tensor.
        name: String,
        /// Its sizes.
        found: Vec<usize>,
    },
    /// A tensor that is not part of such a model.
    #[error("use the tensor `{name}`: a model of this kind has none of that name")]
    Unknown {
        /// The tensor.
        name: String,
    },
    /// The heads do not divide the channels.
    #[error("read `heads` of the metadata: it is `{found}`; expected a number that divides the {width} channels")]
    Heads {
        /// The text.
        found: String,
        /// The channels.
        width: usize,
    },
}

/// The tensors of a file that are still to be used.
struct Rest(TensorFile);

impl Rest {
    fn take(&mut self, name: &str) -> Option<Tensor> {
        let tensors = &mut self.0.tensors;
        tensors.remove(name).or_else(|| tensors.remove(&format!("transformer.{name}")))
    }

    fn matrix(&mut self, name: &str) -> Result<Tensor, ModelError> {
        let tensor = self.take(name).ok_or_else(|| ModelError::Missing { name: name.to_owned() })?;
        match tensor.shape.len() == 2 && !tensor.values.is_empty() {
            true => Ok(tensor),
            false => Err(ModelError::NoMatrix { name: name.to_owned(), found: tensor.shape }),
        }
    }

    fn of_shape(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, ModelError> {
        let tensor = self.take(name).ok_or_else(|| ModelError::Missing { name: name.to_owned() })?;
        match tensor.shape == expected {
            true => Ok(tensor.values),
            false => Err(ModelError::Shape { name: name.to_owned(), found: tensor.shape, expected: expected.to_vec() }),
        }
    }

    fn both(&mut self, name: &str, weight: &[usize]) -> Result<Parameters, ModelError> {
        let bias = weight.last().copied().unwrap_or_default();
        Ok(Parameters {
            weight: self.of_shape(&format!("{name}.weight"), weight)?,
            bias: self.of_shape(&format!("{name}.bias"), &[bias])?,
        })
    }
}

impl LanguageModel {
    /// Reads a file of safetensors; values are rounded to the format in which they are stored.
    ///
    /// # Errors
    /// When it is damaged, or a tensor is missing, has another shape or is none of such a model.
    pub fn read(name: &str, bytes: &[u8], format: ValueFormat) -> Result<Self, ModelError> {
        let mut rest = Rest(read_tensors(bytes)?);
        let (table, positions) = (rest.matrix("wte.weight")?, rest.matrix("wpe.weight")?);
        let (tokens, width, context) = (table.shape[0], table.shape[1], positions.shape[0]);
        if positions.shape[1] != width {
            let expected = vec![context, width];
            return Err(ModelError::Shape { name: "wpe.weight".to_owned(), found: positions.shape, expected });
        }
        let found = rest.0.metadata.get("heads").cloned().unwrap_or_default();
        let heads = found.parse().ok().filter(|&heads: &usize| heads > 0 && width.is_multiple_of(heads));
        let heads = heads.ok_or(ModelError::Heads { found, width })?;
        let mut parameters = vec![
            Parameters { weight: table.values, ..Parameters::default() },
            Parameters { weight: positions.values, ..Parameters::default() },
        ];
        let (mut layers, mut inner) = (0, 0);
        while let Some(first) = rest.take(&format!("h.{layers}.ln_1.weight")) {
            let h = format!("h.{layers}.");
            rest.0.tensors.insert(format!("{h}ln_1.weight"), first);
            let expansion = rest.matrix(&format!("{h}mlp.c_fc.weight"))?;
            let of_layer = expansion.shape[1];
            if layers > 0 && of_layer != inner {
                let (name, expected) = (format!("{h}mlp.c_fc.weight"), vec![width, inner]);
                return Err(ModelError::Shape { name, found: expansion.shape, expected });
            }
            inner = of_layer;
            rest.0.tensors.insert(format!("{h}mlp.c_fc.weight"), expansion);
            parameters.push(rest.both(&format!("{h}ln_1"), &[width])?);
            parameters.extend(thirds(&rest.both(&format!("{h}attn.c_attn"), &[width, 3 * width])?, width));
            parameters.push(Parameters::default());
            parameters.push(rest.both(&format!("{h}attn.c_proj"), &[width, width])?);
            parameters.push(rest.both(&format!("{h}ln_2"), &[width])?);
            parameters.push(rest.both(&format!("{h}mlp.c_fc"), &[width, inner])?);
            parameters.push(Parameters::default());
            parameters.push(rest.both(&format!("{h}mlp.c_proj"), &[inner, width])?);
            layers += 1;
        }
        parameters.push(rest.both("ln_f", &[width])?);
        let own = match rest.0.tensors.contains_key("lm_head.weight") {
            true => Some(rest.of_shape("lm_head.weight", &[tokens, width])?),
            false => None,
        };
        if let Some(name) = rest.0.tensors.into_keys().next() {
            return Err(ModelError::Unknown { name });
        }
        let (shape, tied) = (ModelShape { tokens, width, heads, inner, layers, context }, own.is_none());
        parameters.push(Parameters { weight: own.unwrap_or_default(), ..Parameters::default() });
        for values in parameters.iter_mut().flat_map(|part| [&mut part.weight, &mut part.bias]) {
            values.iter_mut().for_each(|value| *value = format.kept(*value));
        }
        let parts = parts::all(shape, tied);
        let head_part = if tied { parts::EMBED } else { parts.len() - 1 };
        let table = &parameters[head_part].weight;
        let head = (0..width).flat_map(|channel| table.iter().skip(channel).step_by(width)).copied().collect();
        Ok(Self { name: name.to_owned(), shape, format, parts, parameters, head_part, head })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its sizes.
    #[must_use]
    pub fn shape(&self) -> ModelShape {
        self.shape
    }

    /// The format in which weights, results of parts, and keys and values are stored.
    #[must_use]
    pub fn format(&self) -> ValueFormat {
        self.format
    }

    /// Its parts, in the order in which a step meets them.
    #[must_use]
    pub fn parts(&self) -> &[ModelPart] {
        &self.parts
    }

    /// The weight and the bias of each part.
    #[must_use]
    pub fn parameters(&self) -> &[Parameters] {
        &self.parameters
    }

    /// Whether the table of tokens also makes the logits.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        self.head_part == parts::EMBED
    }

    /// The table that makes the logits, as (channel, token).
    pub(crate) fn head(&self) -> &[f32] {
        &self.head
    }

    /// Replaces an element of the weight of a part, and gives the one before; none if the part does not have it.
    pub fn replace_weight(&mut self, part: usize, element: usize, value: f32) -> Option<f32> {
        let place = self.parameters.get_mut(part)?.weight.get_mut(element)?;
        let before = std::mem::replace(place, value);
        if part == self.head_part {
            let (token, channel) = (element / self.shape.width, element % self.shape.width);
            self.head[channel * self.shape.tokens + token] = value;
        }
        Some(before)
    }

    /// Replaces an element of the bias of a part, and gives the one before; none if the part does not have it.
    pub fn replace_bias(&mut self, part: usize, element: usize, value: f32) -> Option<f32> {
        self.parameters.get_mut(part)?.bias.get_mut(element).map(|place| std::mem::replace(place, value))
    }

    /// Multiplications with a weight in one step.
    #[must_use]
    pub fn macs(&self) -> u64 {
        let matrices = self.parts[2..].iter().filter(|part| part.weight.len() == 2 && part.class != "logits");
        let matrices: usize = matrices.map(|part| part.weight.iter().product::<usize>()).sum();
        (matrices + self.shape.width * self.shape.tokens) as u64
    }
}

/// The queries, keys and values of one matrix.
fn thirds(fused: &Parameters, width: usize) -> [Parameters; 3] {
    [0, 1, 2].map(|third| {
        let columns = third * width..(third + 1) * width;
        let rows = fused.weight.chunks_exact(3 * width);
        Parameters {
            weight: rows.flat_map(|row| &row[columns.clone()]).copied().collect(),
            bias: fused.bias[columns.clone()].to_vec(),
        }
    })
}
