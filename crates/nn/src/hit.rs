//! The changes of a fault to elements that a layer reads, holds and makes.

use fault::Model;

/// The operand of a layer that is hit. The order is that in which a layer meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerOperand {
    /// An input, by number: this layer alone reads the changed bytes.
    In(usize),
    /// Its weights.
    Weight,
    /// Its biases.
    Bias,
    /// The output, after requantisation and Relu.
    Out,
}

/// The words of inputs; no layer has more.
#[rustfmt::skip]
pub(crate) const INPUTS: [&str; 64] = [
    "in", "in2", "in3", "in4", "in5", "in6", "in7", "in8", "in9", "in10",
    "in11", "in12", "in13", "in14", "in15", "in16", "in17", "in18", "in19", "in20",
    "in21", "in22", "in23", "in24", "in25", "in26", "in27", "in28", "in29", "in30",
    "in31", "in32", "in33", "in34", "in35", "in36", "in37", "in38", "in39", "in40",
    "in41", "in42", "in43", "in44", "in45", "in46", "in47", "in48", "in49", "in50",
    "in51", "in52", "in53", "in54", "in55", "in56", "in57", "in58", "in59", "in60",
    "in61", "in62", "in63", "in64",
];

/// One element, and what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The layer, by number.
    pub layer: usize,
    /// The operand of it.
    pub operand: LayerOperand,
    /// The element: position-major of tensors, in the order of [`Conv::weights`](crate::network::Conv::weights) of weights.
    pub element: usize,
    /// The change.
    pub model: Model,
}

/// All that one fault does to one inference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit(Vec<Place>);

/// The stored bits of the first element that is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitBits {
    /// Before the fault.
    pub before: u32,
    /// After it.
    pub after: u32,
}

impl Place {
    /// Whether the element is what it is whatever it would have been; flips and stuck bits depend on that.
    pub(crate) fn is_replaced(&self) -> bool {
        matches!(self.model, Model::Value(_) | Model::Zero)
    }
}

impl Hit {
    /// These places, in the order in which a run meets them.
    #[must_use]
    pub fn new(mut places: Vec<Place>) -> Self {
        places.sort_by_key(|place| (place.layer, place.operand));
        Self(places)
    }

    /// One element of what a layer makes.
    #[must_use]
    pub fn neuron(layer: usize, element: usize, model: Model) -> Self {
        Self(vec![Place { layer, operand: LayerOperand::Out, element, model }])
    }

    /// The places, layer by layer.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.0
    }

    /// Those of a layer.
    pub(crate) fn of_layer(&self, layer: usize) -> &[Place] {
        let first = self.0.partition_point(|place| place.layer < layer);
        let rest = &self.0[first..];
        &rest[..rest.partition_point(|place| place.layer == layer)]
    }
}

impl LayerOperand {
    /// The word of ids: `out`, `weight`, `bias`, `in`, `in2` for the second input, and so on.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::In(which) => INPUTS.get(which).copied().unwrap_or_default(),
            Self::Weight => "weight",
            Self::Bias => "bias",
            Self::Out => "out",
        }
    }

    /// Reads the word of ids.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let inputs = (0..INPUTS.len()).map(Self::In);
        inputs.chain([Self::Weight, Self::Bias, Self::Out]).find(|operand| operand.word() == word)
    }

    /// How many bits a stored element has.
    #[must_use]
    pub fn bits(self) -> u32 {
        if self == Self::Bias { 32 } else { 8 }
    }
}

/// Notes what happens to an element, if it is the first.
pub(crate) fn strike(model: Model, before: u32, operand: LayerOperand, first: &mut Option<HitBits>) -> u32 {
    strike_bits(model, before, operand.bits(), first)
}

/// The same of an element of `bits` bits, at most 32.
pub(crate) fn strike_bits(model: Model, before: u32, bits: u32, first: &mut Option<HitBits>) -> u32 {
    let kept = u32::MAX >> 32_u32.saturating_sub(bits.max(1));
    let after = model.apply(u128::from(before)) as u32 & kept;
    first.get_or_insert(HitBits { before, after });
    after
}
