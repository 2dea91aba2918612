//! The errors of the text of a fault.

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
        /// The words that it may be.
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
    /// An operand that the layer has not.
    #[error("hit `{operand}` of the layer `{layer}`: it has {has}")]
    LayerOperand {
        /// The part that was to be hit.
        operand: &'static str,
        /// The layer.
        layer: String,
        /// The parts that it has, as a list.
        has: String,
    },
    /// Coordinates that lie outside of the operand, or are too many or too few.
    #[error("find `at={at}` in `{operand}` of the layer `{layer}`: it has {size}")]
    Place {
        /// The coordinates.
        at: String,
        /// The part that was to be hit.
        operand: &'static str,
        /// The layer.
        layer: String,
        /// The parts that there are.
        size: String,
    },
    /// Models of several places that are neither one for all nor one for each.
    #[error(
        "read `bits` of {places} places: expected one change for all, or one for each, joined by /; found {models}"
    )]
    Models {
        /// The places.
        places: usize,
        /// The changes.
        models: usize,
    },
    /// Bits that the operand does not have.
    #[error("read `bits={bits}`: an element of `{operand}` has {width} bits, counted from 0")]
    Bits {
        /// The bits.
        bits: String,
        /// The part that was to be hit.
        operand: &'static str,
        /// How many bits it has.
        width: u32,
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
