//! A fault of a network, and its text id: `image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6`.
//!
//! Coordinates are in ONNX' order without the batch: channel, row, column; of a tensor without rows and columns, the channel
//! alone. The byte is the stored one: after requantisation and, where one follows, after Relu.

use std::fmt;

use crate::hit::{Hit, Model};
use crate::network::Network;

/// What goes wrong in one forward run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The image, by its number in the data set that is loaded.
    pub image: usize,
    /// The name of the layer whose output is hit.
    pub layer: String,
    /// Where.
    pub at: Coordinates,
    /// What happens there.
    pub model: Model,
}

/// A place in a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Of a tensor with rows and columns.
    Map {
        /// The channel.
        channel: usize,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// Of a tensor without.
    Flat {
        /// The channel.
        channel: usize,
    },
}

/// Why a fault cannot be read, or not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// A part that is not `key=value`, or whose key means nothing.
    #[error("read `{found}`: a fault is image=I,layer=NAME,tensor=out,at=CHANNEL:ROW:COLUMN,model=flip,bits=B")]
    Form {
        /// The part.
        found: String,
    },
    /// A key that is missing.
    #[error("read a fault of a network: it has no `{key}`")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A key that is there twice.
    #[error("read a fault of a network: it has two of `{key}`")]
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
        /// What it may be.
        expected: String,
    },
    /// A layer that the network has not.
    #[error("find the layer `{layer}` of `{network}`: its layers are {layers}")]
    Layer {
        /// The layer.
        layer: String,
        /// The network.
        network: String,
        /// The layers that it has, as a list.
        layers: String,
    },
    /// Coordinates that lie outside of the tensor, or are too many or too few.
    #[error("find `at={at}` in layer `{layer}`: its output has {size}")]
    Place {
        /// The coordinates.
        at: Coordinates,
        /// The layer.
        layer: String,
        /// What there is.
        size: String,
    },
    /// An image that there is not.
    #[error("find image {image}: there are {images}, counted from 0")]
    Image {
        /// The image.
        image: usize,
        /// How many there are.
        images: usize,
    },
}

/// The keys of ids, in their order.
const KEYS: [&str; 6] = ["image", "layer", "tensor", "at", "model", "bits"];

impl Fault {
    /// Reads an id. The key `node`, which is for readers, is ignored.
    ///
    /// # Errors
    /// Of the first part that means nothing. Whether a network has the place is for [`hit`](Self::hit) to say.
    pub fn parse(id: &str) -> Result<Self, FaultError> {
        let mut values = [None; 6];
        for part in id.split(',') {
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
        let wrong = |key: usize, found: &str, expected: &str| FaultError::Value {
            key: KEYS[key],
            found: found.to_owned(),
            expected: expected.to_owned(),
        };
        let (image, tensor, at) = (value(0)?, value(2)?, value(3)?);
        if tensor != "out" {
            return Err(wrong(2, tensor, "out, what the layer makes"));
        }
        let (name, bits) = (value(4)?, value(5)?);
        let model = Model::parse(name, bits).map_err(|what| match what.split_once(": ") {
            Some(("bits", expected)) => wrong(5, bits, expected),
            _ => wrong(4, name, what.trim_start_matches("model: ")),
        })?;
        Ok(Self {
            image: whole(image).ok_or_else(|| wrong(0, image, "the number of an image"))?,
            layer: value(1)?.to_owned(),
            at: Coordinates::parse(at).ok_or_else(|| wrong(3, at, "CHANNEL:ROW:COLUMN, or CHANNEL"))?,
            model,
        })
    }

    /// The fault that makes a hit.
    ///
    /// The layer and the element have to be those of the network, as they are in what was drawn.
    #[must_use]
    pub fn of(network: &Network, image: usize, hit: &Hit) -> Self {
        let tensor = network.output(hit.layer);
        let (channel, position) = (hit.element % tensor.shape.channels, hit.element / tensor.shape.channels);
        let (row, column) = (position / tensor.shape.width, position % tensor.shape.width);
        let at = if tensor.flat { Coordinates::Flat { channel } } else { Coordinates::Map { channel, row, column } };
        Self { image, layer: network.layers()[hit.layer].name.clone(), at, model: hit.model }
    }

    /// The hit that it makes of a network with so many images.
    ///
    /// # Errors
    /// When there is no such image, layer or place.
    pub fn hit(&self, network: &Network, images: usize) -> Result<Hit, FaultError> {
        if self.image >= images {
            return Err(FaultError::Image { image: self.image, images });
        }
        let layer = network.layer_named(&self.layer).ok_or_else(|| {
            let layers: Vec<&str> = network.layers().iter().map(|layer| layer.name.as_str()).collect();
            let (layer, network) = (self.layer.clone(), network.name().to_owned());
            FaultError::Layer { layer, network, layers: layers.join(", ") }
        })?;
        let (tensor, shape) = (network.output(layer), network.output(layer).shape);
        let place = match self.at {
            Coordinates::Map { channel, row, column } if !tensor.flat => Some((channel, row, column)),
            Coordinates::Flat { channel } if tensor.flat => Some((channel, 0, 0)),
            _ => None,
        };
        let inside = |&(channel, row, column): &(usize, usize, usize)| {
            channel < shape.channels && row < shape.height && column < shape.width
        };
        let (channel, row, column) = place.filter(inside).ok_or_else(|| {
            let size = match tensor.flat {
                true => format!("{} channels and neither rows nor columns", shape.channels),
                false => format!("{} channels, {} rows and {} columns", shape.channels, shape.height, shape.width),
            };
            FaultError::Place { at: self.at, layer: self.layer.clone(), size }
        })?;
        Ok(Hit { layer, element: (row * shape.width + column) * shape.channels + channel, model: self.model })
    }
}

impl Coordinates {
    fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(':').map(whole).collect::<Option<Vec<_>>>()?;
        match *numbers {
            [channel] => Some(Self::Flat { channel }),
            [channel, row, column] => Some(Self::Map { channel, row, column }),
            _ => None,
        }
    }
}

/// A whole number in digits alone.
fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map { channel, row, column } => write!(f, "{channel}:{row}:{column}"),
            Self::Flat { channel } => write!(f, "{channel}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "image={},layer={},tensor=out,at={},{}", self.image, self.layer, self.at, self.model)
    }
}
