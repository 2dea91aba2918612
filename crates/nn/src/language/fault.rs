//! A fault of a generation, and its text id: `prompt=3,step=17,layer=h0.k,tensor=cache,at=21:5,model=flip,bits=30`.
//!
//! `tensor` is `out`, an element that a part makes at this step, at this step alone; `weight` or `bias`, an element that a part
//! holds, changed from this step to the end of the generation; or `cache`, a stored key or value of an earlier position, changed
//! before this step and until the end. Coordinates are the channel of `out` and `bias`; of `weight` input and output of a matrix,
//! row and channel of a table, or the channel; of `cache` position and channel.

use std::fmt;

use fault::{Model, ParseFaultError};

use super::model::LanguageModel;
use crate::float::ValueFormat;

/// The stored values of a generation that faults hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoredOperand {
    /// A result of a part, at one step.
    Out,
    /// A weight.
    Weight,
    /// A bias.
    Bias,
    /// A key or a value of an earlier position.
    Cache,
}

impl StoredOperand {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Out, Self::Weight, Self::Bias, Self::Cache];

    /// The word of ids.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::Weight => "weight",
            Self::Bias => "bias",
            Self::Cache => "cache",
        }
    }

    /// The sizes of it in a part; empty if the part has none. The positions of a cache are those that are read before a step.
    #[must_use]
    pub fn sizes(self, model: &LanguageModel, part: usize, positions: usize) -> Vec<usize> {
        let Some(part) = model.parts().get(part) else { return Vec::new() };
        match self {
            Self::Out if part.outputs > 0 => vec![part.outputs],
            Self::Weight => part.weight.clone(),
            Self::Bias if part.bias > 0 => vec![part.bias],
            Self::Cache if part.cached => vec![positions, part.outputs],
            _ => Vec::new(),
        }
    }
}

/// The fault of one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationFault {
    /// The prompt, by number.
    pub prompt: usize,
    /// The step.
    pub step: usize,
    /// The name of the part.
    pub layer: String,
    /// The operand of it.
    pub operand: StoredOperand,
    /// The coordinates.
    pub at: Vec<usize>,
    /// The change.
    pub model: Model,
}

/// A fault with the numbers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationHit {
    /// The prompt.
    pub prompt: usize,
    /// The step.
    pub step: usize,
    /// The part, by number.
    pub part: usize,
    /// The operand of it.
    pub operand: StoredOperand,
    /// The position of a cache; else 0.
    pub position: usize,
    /// The element; of a cache, its channel.
    pub element: usize,
    /// The change.
    pub model: Model,
}

/// The places of generations that faults can name.
#[derive(Clone, Copy, Debug)]
pub struct GenerationSpace<'m> {
    /// The model.
    pub model: &'m LanguageModel,
    /// The tokens of each prompt.
    pub lengths: &'m [usize],
    /// The steps.
    pub steps: usize,
}

/// Why a fault cannot be read, or not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerationFaultError {
    /// A part that is not `key=value`, or whose key means nothing.
    #[error("read `{found}`: a fault is prompt=P,step=S,layer=NAME,tensor=out,at=CHANNEL,model=flip,bits=B")]
    Form {
        /// The part.
        found: String,
    },
    /// A key that is missing.
    #[error("read a fault of a generation: it has no `{key}`")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A key that is there twice.
    #[error("read a fault of a generation: it has two of `{key}`")]
    Twice {
        /// The key.
        key: &'static str,
    },
    /// A value that its key cannot take.
    #[error("read `{key}={found}`: expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// The words that it may be.
        expected: String,
    },
    /// A part that the model has not.
    #[error("find the layer `{layer}` of `{model}`: its layers are {layers}")]
    Layer {
        /// The layer.
        layer: String,
        /// The model.
        model: String,
        /// The layers that it has, as a list.
        layers: String,
    },
    /// An operand that the part has not.
    #[error("hit `{operand}` of the layer `{layer}`: it has {has}")]
    Operand {
        /// The operand.
        operand: &'static str,
        /// The layer.
        layer: String,
        /// The operands that it has, as a list.
        has: String,
    },
    /// Coordinates that lie outside, or are too many or too few.
    #[error("find `at={at}` in `{operand}` of the layer `{layer}`: its sizes are {sizes}, counted from 0")]
    Place {
        /// The coordinates.
        at: String,
        /// The operand.
        operand: &'static str,
        /// The layer.
        layer: String,
        /// The sizes.
        sizes: String,
    },
    /// Bits that a value does not have.
    #[error("read `bits={bits}`: a stored value has {width} bits, counted from 0")]
    Bits {
        /// The bits.
        bits: String,
        /// How many bits it has.
        width: u32,
    },
    /// A prompt or a step that there is not.
    #[error("find {what} {found}: there are {count}, counted from 0")]
    Number {
        /// `prompt` or `step`.
        what: &'static str,
        /// The number.
        found: usize,
        /// How many there are.
        count: usize,
    },
}

/// The keys of ids, in their order.
const KEYS: [&str; 7] = ["prompt", "step", "layer", "tensor", "at", "model", "bits"];

fn wrong(key: usize, found: &str, expected: &str) -> GenerationFaultError {
    GenerationFaultError::Value { key: KEYS[key], found: found.to_owned(), expected: expected.to_owned() }
}

fn whole(text: &str) -> Option<usize> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl GenerationFault {
    /// Reads an id.
    ///
    /// # Errors
    /// Of the first part that means nothing. Whether a model has the place is for [`hit`](Self::hit) to say.
    pub fn parse(id: &str) -> Result<Self, GenerationFaultError> {
        let mut values = [None; KEYS.len()];
        for part in id.split(',') {
            let form = || GenerationFaultError::Form { found: part.to_owned() };
            let (key, value) = part.split_once('=').ok_or_else(form)?;
            let number = KEYS.iter().position(|&known| known == key).ok_or_else(form)?;
            if values[number].replace(value).is_some() {
                return Err(GenerationFaultError::Twice { key: KEYS[number] });
            }
        }
        let value = |number: usize| values[number].ok_or(GenerationFaultError::Missing { key: KEYS[number] });
        let number = |key: usize, what: &str| value(key).and_then(|it| whole(it).ok_or_else(|| wrong(key, it, what)));
        let (prompt, step) = (number(0, "the number of a prompt")?, number(1, "the number of a step")?);
        let (tensor, at) = (value(3)?, value(4)?);
        let operand = StoredOperand::ALL.into_iter().find(|operand| operand.word() == tensor);
        let operand = operand.ok_or_else(|| wrong(3, tensor, "out, weight, bias or cache"))?;
        let coordinates = at.split(':').map(whole).collect::<Option<Vec<_>>>();
        let coordinates = coordinates.ok_or_else(|| wrong(4, at, "numbers such as 21:5"))?;
        let (name, bits) = (value(5)?, value(6)?);
        let model = Model::parse(name, bits).map_err(|error| match error {
            ParseFaultError::Value { key, expected, .. } if key == "bits" => wrong(6, bits, expected),
            ParseFaultError::Value { expected, .. } => wrong(5, name, expected),
            other => GenerationFaultError::Form { found: other.to_string() },
        })?;
        Ok(Self { prompt, step, layer: value(2)?.to_owned(), operand, at: coordinates, model })
    }

    /// The fault with the numbers of a model.
    ///
    /// # Errors
    /// When a prompt, step, layer, operand, place or bit is unknown.
    pub fn hit(&self, space: GenerationSpace<'_>) -> Result<GenerationHit, GenerationFaultError> {
        let number = |what, found, count| GenerationFaultError::Number { what, found, count };
        let length = space.lengths.get(self.prompt).copied();
        let length = length.ok_or_else(|| number("prompt", self.prompt, space.lengths.len()))?;
        if self.step >= space.steps {
            return Err(number("step", self.step, space.steps));
        }
        let (model, layer) = (space.model, || self.layer.clone());
        let part = model.parts().iter().position(|part| part.name == self.layer).ok_or_else(|| {
            let layers: Vec<&str> = model.parts().iter().map(|part| part.name.as_str()).collect();
            GenerationFaultError::Layer { layer: layer(), model: model.name().to_owned(), layers: layers.join(", ") }
        })?;
        let positions = length - 1 + self.step;
        let sizes = self.operand.sizes(model, part, positions);
        let operand = self.operand.word();
        if sizes.is_empty() {
            let has = StoredOperand::ALL.into_iter().filter(|it| !it.sizes(model, part, positions).is_empty());
            let has = has.map(StoredOperand::word).collect::<Vec<_>>().join(", ");
            return Err(GenerationFaultError::Operand { operand, layer: layer(), has });
        }
        if self.at.len() != sizes.len() || self.at.iter().zip(&sizes).any(|(at, size)| at >= size) {
            let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            return Err(GenerationFaultError::Place { at: self.place(), operand, layer: layer(), sizes });
        }
        let width = model.format().bits();
        if !self.model.fits(width) {
            return Err(GenerationFaultError::Bits { bits: self.model.bits(), width });
        }
        let (position, element) = match (&self.at[..], &sizes[..]) {
            (&[position, channel], _) if self.operand == StoredOperand::Cache => (position, channel),
            (&[row, column], &[_, columns]) => (0, row * columns + column),
            (at, _) => (0, at[0]),
        };
        let (prompt, step, operand) = (self.prompt, self.step, self.operand);
        Ok(GenerationHit { prompt, step, part, operand, position, element, model: self.model })
    }

    /// The coordinates as ids write them.
    fn place(&self) -> String {
        self.at.iter().map(ToString::to_string).collect::<Vec<_>>().join(":")
    }

    /// The fault in a sentence; a bit is named with its field in the format.
    #[must_use]
    pub fn sentence(&self, format: ValueFormat) -> String {
        let change = match self.model {
            Model::Flip(mask) => {
                let named = (0..format.bits()).filter(|bit| mask.get() >> bit & 1 == 1);
                let named: Vec<String> = named.map(|bit| format!("{bit} ({})", format.field(bit).word())).collect();
                let (many, verb) = if named.len() == 1 { ("", "flips") } else { ("s", "flip") };
                (format!("bit{many} {} of", named.join(" and ")), verb)
            }
            model => (format!("{} of", model.bits()), "changes"),
        };
        let (of, verb) = change;
        let layer = &self.layer;
        let place = match (self.operand, &self.at[..]) {
            (StoredOperand::Out, _) => format!("the output of {layer} at channel {}", self.place()),
            (StoredOperand::Bias, _) => format!("the bias of {layer} at channel {}", self.place()),
            (StoredOperand::Cache, [position, channel]) => {
                format!("what {layer} stored at position {position}, channel {channel}")
            }
            _ => format!("the weight of {layer} at {}", self.place()),
        };
        let how = match self.operand {
            StoredOperand::Out => "at this step alone",
            _ => "from this step to the end",
        };
        format!("In step {} after prompt {}, {of} {place} {verb}, {how}.", self.step, self.prompt)
    }
}

impl fmt::Display for GenerationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prompt, step, layer, operand, model, .. } = self;
        write!(f, "prompt={prompt},step={step},layer={layer},tensor={},at={}", operand.word(), self.place())?;
        write!(f, ",model={},bits={}", model.name(), model.bits())
    }
}
