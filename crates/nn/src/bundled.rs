//! The networks that the program brings along, each with some images.

use crate::file::{FileError, read_float, read_network};
use crate::float::{FloatTarget, FloatTargetError, ValueFormat};
use crate::images::{Images, ImagesError};
use crate::operator::Shape;
use crate::target::{NetworkTarget, UnlikeSizes};

/// A network that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// How many images come with it.
    pub images: usize,
    /// The ONNX file, in INT8.
    pub file: &'static [u8],
    /// The ONNX file that it was quantised from, in FP32.
    pub float_file: &'static [u8],
    /// The images, one after the other, and then the labels, compressed by zstd.
    pub packed_images: &'static [u8],
}

/// All of them.
pub static NETWORKS: [Bundled; 1] = [Bundled {
    name: "fashion",
    about: "residual and depthwise convolutions on Fashion-MNIST (28 x 28, 10 classes), INT8, or --format fp32, fp16, bf16",
    images: 1000,
    file: include_bytes!("../networks/fashion/fashion.onnx"),
    float_file: include_bytes!("../networks/fashion/fashion-fp32.onnx"),
    packed_images: include_bytes!("../networks/fashion/images.zst"),
}];

/// Why a bundled network cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BundledError {
    /// There is none of that name.
    #[error("find the network `{name}`: there are {}", names())]
    Name {
        /// The name.
        name: String,
    },
    /// The network is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// The images cannot be unpacked.
    #[error("unpack the images of `{name}`")]
    Unpack {
        /// The network.
        name: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The images are not what was expected.
    #[error(transparent)]
    Images(#[from] ImagesError),
    /// The images do not fit the network.
    #[error(transparent)]
    Sizes(#[from] UnlikeSizes),
    /// The network of floating point cannot be run on the images.
    #[error(transparent)]
    Float(#[from] FloatTargetError),
}

fn names() -> String {
    NETWORKS.iter().map(|network| format!("`{}` ({})", network.name, network.about)).collect::<Vec<_>>().join(", ")
}

/// The bundled network of a name, with its images and its fault-free runs.
///
/// # Errors
/// When there is none of that name.
pub fn open(name: &str) -> Result<NetworkTarget, BundledError> {
    let bundled = NETWORKS.iter().find(|network| network.name == name);
    bundled.ok_or_else(|| unknown(name))?.open()
}

/// There is none of that name.
pub(crate) fn unknown(name: &str) -> BundledError {
    BundledError::Name { name: name.to_owned() }
}

impl Bundled {
    /// The network with its images and its fault-free runs.
    ///
    /// # Errors
    /// When the program is damaged.
    pub fn open(&self) -> Result<NetworkTarget, BundledError> {
        let network = read_network(self.name, self.file)?;
        let images = self.unpacked(network.tensors()[0].shape, network.logits().shape.channels)?;
        Ok(NetworkTarget::new(network, self.file, images)?)
    }

    /// The network of floating point, its values stored in a format, with its images and its fault-free runs.
    ///
    /// # Errors
    /// When the program is damaged.
    pub fn open_float(&self, format: ValueFormat) -> Result<FloatTarget, BundledError> {
        let network = read_float(self.name, self.float_file, format)?;
        let [first, logits] = [0, network.layers().len()].map(|tensor| network.tensors()[tensor].shape);
        let images = self.unpacked(first, logits.channels)?;
        Ok(FloatTarget::new(network, self.float_file, images)?)
    }

    fn unpacked(&self, shape: Shape, classes: usize) -> Result<Images, BundledError> {
        let size = self.images * (shape.elements() + 1);
        let unpack = |source| BundledError::Unpack { name: self.name.to_owned(), source };
        let mut pixels = zstd::bulk::decompress(self.packed_images, size).map_err(unpack)?;
        let labels = pixels.split_off((self.images * shape.elements()).min(pixels.len()));
        Ok(Images::new(shape, pixels, labels.into_iter().map(u16::from).collect(), classes)?)
    }
}
