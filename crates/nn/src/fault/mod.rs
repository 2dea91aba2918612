//! A fault of a network, and its text id: `image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6`.
//!
//! Coordinates are in ONNX' order without the batch: channel, row, column of a tensor; filter, channel, row, column of a
//! weight; output and input of a dense layer's weight; the channel alone of a bias and of a tensor without rows and columns.
//! The bits are the stored ones, of a neuron after requantisation and, where one follows, after Relu.
//!
//! Several places of an operand are a [`ElementRegion`] such as `5:3:*`, or are joined by `+`. They change alike, or each has its
//! own bits, joined by `/`. Parts in other layers or operands follow after `;`, without the image.

mod error;
mod region;
mod words;

use std::fmt;

use fault::{Model, ParseFaultError};

use crate::hit::{Hit, INPUTS, LayerOperand, Place};
use crate::space::ElementSpace;
use crate::topology::Topology;
use region::whole;

pub use error::FaultError;
pub use region::{ElementRegion, Span};

/// The fault of one forward run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The image, by its number in the data set that is loaded.
    pub image: usize,
    /// The places that are hit, at least one.
    pub parts: Vec<FaultPart>,
}

/// Places of one operand of one layer that are hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPart {
    /// The name of the layer.
    pub layer: String,
    /// The part of it that is hit.
    pub operand: LayerOperand,
    /// Where, at least one.
    pub at: Vec<ElementRegion>,
    /// The changes: one for all places, or one for each. All have one name.
    pub models: Vec<Model>,
}

/// The keys of ids, in their order.
const KEYS: [&str; 6] = ["image", "layer", "tensor", "at", "model", "bits"];

impl Fault {
    /// Reads an id. The key `node`, which is for readers, is ignored.
    ///
    /// # Errors
    /// Of the first part that means nothing. Whether a network has the place is for [`hit`](Self::hit) to say.
    pub fn parse(id: &str) -> Result<Self, FaultError> {
        let (mut image, mut parts) = (None, Vec::new());
        for part in id.split(';') {
            let (said, part) = FaultPart::parse(part)?;
            if let Some(said) = said
                && image.replace(said).is_some()
            {
                return Err(FaultError::Twice { key: KEYS[0] });
            }
            parts.push(part);
        }
        Ok(Self { image: image.ok_or(FaultError::Missing { key: KEYS[0] })?, parts })
    }

    /// The hit that it is in a network with this number of images.
    ///
    /// # Errors
    /// When an image, layer, operand, place or bit is unknown.
    pub fn hit(&self, network: &dyn Topology, images: usize) -> Result<Hit, FaultError> {
        if self.image >= images {
            return Err(FaultError::Image { image: self.image, images });
        }
        let mut places = Vec::new();
        for part in &self.parts {
            part.places(network, &mut places)?;
        }
        Ok(Hit::new(places))
    }
}

impl FaultPart {
    fn parse(text: &str) -> Result<(Option<usize>, Self), FaultError> {
        let mut values = [None; 6];
        for part in text.split(',') {
            let form = || FaultError::Form { found: part.to_owned() };
            let (key, value) = part.split_once('=').ok_or_else(form)?;
            if key == "node" {
                continue;
            }
            let number = KEYS.iter().position(|&known| known == key).ok_or_else(form)?;
            if values[number].replace(value).is_some() {
                return Err(FaultError::Twice { key: KEYS[number] });
            }
        }
        let value = |number: usize| values[number].ok_or(FaultError::Missing { key: KEYS[number] });
        let image = values[0].map(|image| whole(image).ok_or_else(|| wrong(0, image, "the number of an image")));
        let image = image.transpose()?;
        let (layer, tensor, at) = (value(1)?.to_owned(), value(2)?, value(3)?);
        let operand = LayerOperand::parse(tensor)
            .ok_or_else(|| wrong(2, tensor, "out, weight, bias, or in, in2 and so on for inputs"))?;
        let regions = at.split('+').map(ElementRegion::parse).collect::<Option<Vec<_>>>();
        let at = regions.ok_or_else(|| {
            wrong(3, at, "coordinates such as CHANNEL:ROW:COLUMN, each a number, a range such as 2-5, or *")
        })?;
        let (name, bits) = (value(4)?, value(5)?);
        let model = |bits: &str| Model::parse(name, bits).map_err(|error| of_model(name, bits, error));
        Ok((image, Self { layer, operand, at, models: bits.split('/').map(model).collect::<Result<_, _>>()? }))
    }

    fn places(&self, network: &dyn Topology, places: &mut Vec<Place>) -> Result<(), FaultError> {
        let layer = network.layer_named(&self.layer).ok_or_else(|| {
            let layers: Vec<&str> = network.layouts().map(|layer| layer.name).collect();
            let (layer, network) = (self.layer.clone(), network.name().to_owned());
            FaultError::Layer { layer, network, layers: layers.join(", ") }
        })?;
        let (operand, word) = (self.operand, self.operand.word());
        let space = ElementSpace::of(network, layer, operand).ok_or_else(|| {
            let all = (0..INPUTS.len()).map(LayerOperand::In).chain([
                LayerOperand::Weight,
                LayerOperand::Bias,
                LayerOperand::Out,
            ]);
            let has = all.filter(|&operand| ElementSpace::of(network, layer, operand).is_some());
            let has = has.map(LayerOperand::word).collect::<Vec<_>>().join(", ");
            FaultError::LayerOperand { operand: word, layer: self.layer.clone(), has }
        })?;
        let mut elements = Vec::new();
        for region in &self.at {
            if region.count(space.sizes()).is_none() {
                let (at, layer, size) = (region.to_string(), self.layer.clone(), space.describe());
                return Err(FaultError::Place { at, operand: word, layer, size });
            }
            elements.extend(region.places(space.sizes()).iter().filter_map(|at| space.element(at)));
        }
        if self.models.len() != 1 && self.models.len() != elements.len() {
            return Err(FaultError::Models { places: elements.len(), models: self.models.len() });
        }
        let width = network.bits(operand);
        if let Some(model) = self.models.iter().find(|model| !model.fits(width)) {
            return Err(FaultError::Bits { bits: model.bits(), operand: word, width });
        }
        let models = self.models.iter().copied().cycle();
        places.extend(elements.into_iter().zip(models).map(|(element, model)| Place {
            layer,
            operand,
            element,
            model,
        }));
        Ok(())
    }

    /// The name of its models.
    #[must_use]
    pub fn model(&self) -> &'static str {
        self.models.first().map_or("", |model| model.name())
    }

    /// The bits of its models, as ids write them.
    #[must_use]
    pub fn bits(&self) -> String {
        self.models.iter().map(|model| model.bits()).collect::<Vec<_>>().join("/")
    }
}

fn wrong(key: usize, found: &str, expected: &str) -> FaultError {
    FaultError::Value { key: KEYS[key], found: found.to_owned(), expected: expected.to_owned() }
}

/// The error of a model, in the words of this id.
fn of_model(name: &str, bits: &str, error: ParseFaultError) -> FaultError {
    match error {
        ParseFaultError::Value { key, expected, .. } if key == "bits" => wrong(5, bits, expected),
        ParseFaultError::Value { expected, .. } => wrong(4, name, expected),
        other => FaultError::Form { found: other.to_string() },
    }
}

impl fmt::Display for FaultPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layer={},tensor={},at=", self.layer, self.operand.word())?;
        for (number, region) in self.at.iter().enumerate() {
            write!(f, "{}{region}", if number == 0 { "" } else { "+" })?;
        }
        write!(f, ",model={},bits={}", self.model(), self.bits())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "image={}", self.image)?;
        for (number, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if number == 0 { "," } else { ";" })?;
        }
        Ok(())
    }
}
