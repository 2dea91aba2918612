//! The networks that the program brings along, each with some images.

use crate::detection::Object;
use crate::file::{FileError, read_float, read_network};
use crate::float::{FloatTarget, FloatTargetError, ValueFormat};
use crate::images::{Images, ImagesError, Shown};
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
    /// The ONNX file, in INT8; a network may be in FP32 alone.
    pub file: Option<&'static [u8]>,
    /// The ONNX file in FP32, which that in INT8 was quantised from.
    pub float_file: &'static [u8],
    /// The images, one after the other, and then what they show, compressed by zstd.
    pub packed_images: &'static [u8],
    /// The kind of their labels.
    shows: Shows,
}

/// The kind of labels of images.
#[derive(Clone, Copy, Debug)]
enum Shows {
    /// A class each, a byte.
    Classes,
    /// Objects: how many, and for each its class, first row, first column, and the row and column that follow its last; bytes.
    Objects,
}

/// The 1,000 images of classifiers of Fashion-MNIST.
const GARMENTS: &[u8] = include_bytes!("../networks/fashion/images.zst");

macro_rules! classifier {
    ($name:literal, $about:literal) => {
        Bundled {
            name: $name,
            about: concat!($about, " on Fashion-MNIST (28 x 28, 10 classes), INT8, or --format fp32, fp16, bf16"),
            images: 1000,
            file: Some(include_bytes!(concat!("../networks/", $name, "/", $name, ".onnx"))),
            float_file: include_bytes!(concat!("../networks/", $name, "/", $name, "-fp32.onnx")),
            packed_images: GARMENTS,
            shows: Shows::Classes,
        }
    };
}

/// All of them.
pub static NETWORKS: [Bundled; 7] = [
    classifier!("fashion", "residual and depthwise convolutions"),
    classifier!("fashion-vgg", "plain convolutions, pools and dense layers"),
    classifier!("fashion-fire", "fire modules"),
    classifier!("fashion-vgg-injected", "fashion-vgg, trained with faults in neurons,"),
    classifier!("fashion-vgg-robust", "fashion-vgg, trained against adversarial images,"),
    Bundled {
        name: "scenes",
        about: "a detector of garments in scenes (64 x 64, 10 classes), INT8, or --format fp32, fp16, bf16",
        images: 400,
        file: Some(include_bytes!("../networks/scenes/scenes.onnx")),
        float_file: include_bytes!("../networks/scenes/scenes-fp32.onnx"),
        packed_images: include_bytes!("../networks/scenes/scenes.zst"),
        shows: Shows::Objects,
    },
    Bundled {
        name: "fashion-vit",
        about: "a vision transformer on Fashion-MNIST (28 x 28, 10 classes), FP32, or --format fp16, bf16; it has no form in INT8",
        images: 1000,
        file: None,
        float_file: include_bytes!("../networks/fashion-vit/fashion-vit-fp32.onnx"),
        packed_images: GARMENTS,
        shows: Shows::Classes,
    },
];

/// Why a bundled network cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BundledError {
    /// There is none of that name.
    #[error("find the network `{name}`: there are {}", names())]
    Name {
        /// The name.
        name: String,
    },
    /// It is not in INT8.
    #[error("use the network `{name}` in INT8: it has no form in INT8; name one of --format fp32, fp16 and bf16")]
    NoIntegers {
        /// The network.
        name: &'static str,
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
    /// The ONNX file in INT8.
    ///
    /// # Errors
    /// When the network is in FP32 alone.
    pub fn integers(&self) -> Result<&'static [u8], BundledError> {
        self.file.ok_or(BundledError::NoIntegers { name: self.name })
    }

    /// The network with its images and its fault-free runs.
    ///
    /// # Errors
    /// When the network is in FP32 alone, or the program is damaged.
    pub fn open(&self) -> Result<NetworkTarget, BundledError> {
        let file = self.integers()?;
        let network = read_network(self.name, file)?;
        let images = self.images(network.tensors()[0].shape, network.logits().shape)?;
        Ok(NetworkTarget::new(network, file, images)?)
    }

    /// The network of floating point, its values stored in a format, with its images and its fault-free runs.
    ///
    /// # Errors
    /// When the program is damaged.
    pub fn open_float(&self, format: ValueFormat) -> Result<FloatTarget, BundledError> {
        let network = read_float(self.name, self.float_file, format)?;
        let [first, last] = [0, network.layers().len()].map(|tensor| network.tensors()[tensor].shape);
        let images = self.images(first, last)?;
        Ok(FloatTarget::new(network, self.float_file, images)?)
    }

    /// Its images, held against what a network makes that reads images of this size.
    ///
    /// # Errors
    /// When they have another size, or the network makes something else.
    pub(crate) fn images(&self, shape: Shape, output: Shape) -> Result<Images, BundledError> {
        let unpack = |source| BundledError::Unpack { name: self.name.to_owned(), source };
        let mut pixels = zstd::stream::decode_all(self.packed_images).map_err(unpack)?;
        let shown = pixels.split_off((self.images * shape.elements()).min(pixels.len()));
        let shown = match self.shows {
            Shows::Classes => Shown::Classes(shown.into_iter().map(u16::from).collect()),
            Shows::Objects => Shown::Objects(counted(&shown)),
        };
        Ok(Images::new(shape, pixels, shown, output)?)
    }
}

/// Objects of images, each a count and as many objects of five bytes.
fn counted(mut bytes: &[u8]) -> Vec<Vec<Object>> {
    let mut images = Vec::new();
    while let Some((&count, rest)) = bytes.split_first() {
        let (objects, rest) = rest.split_at((usize::from(count) * 5).min(rest.len()));
        images.push(objects.as_chunks().0.iter().map(Object::of_bytes).collect());
        bytes = rest;
    }
    images
}
