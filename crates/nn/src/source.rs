//! Where a network and its images come from: of the program, or of files.

use std::path::{Path, PathBuf};

use crate::bundled::{BundledError, NETWORKS, unknown};
use crate::file::{FileError, read_network};
use crate::idx::{IdxError, images, labels};
use crate::images::{Images, ImagesError};
use crate::target::{NetworkTarget, UnlikeSizes};

/// A network, and the images that it is run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkSource {
    /// The name of a bundled network, or an ONNX file.
    pub network: String,
    /// The images; those of a bundled network if there are none.
    pub images: Option<ImageFiles>,
}

/// Files of images and of their labels, in the form IDX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFiles {
    /// The images.
    pub images: PathBuf,
    /// The labels.
    pub labels: PathBuf,
}

/// Why a network cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The bundled network is unknown, or it is damaged.
    #[error(transparent)]
    Bundled(#[from] BundledError),
    /// A file cannot be read.
    #[error("read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file cannot be run as a network.
    #[error("open the network {path}")]
    Network {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: FileError,
    },
    /// A network of a file has no images of its own.
    #[error("run the network {path}: it has no images of its own; name some by --images FILE --labels FILE")]
    NoImages {
        /// The file.
        path: PathBuf,
    },
    /// A file holds no images, or no labels.
    #[error("read {path}")]
    Idx {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: IdxError,
    },
    /// There are not as many labels as images.
    #[error("join images and labels: {images} images in {of_images}, and {labels} labels in {of_labels}")]
    Labels {
        /// Images.
        images: usize,
        /// Their file.
        of_images: PathBuf,
        /// Labels.
        labels: usize,
        /// Their file.
        of_labels: PathBuf,
    },
    /// Images have another size than what the network reads.
    #[error(
        "run the network on {path}: images have {found:?} rows and columns, and it reads {expected:?} rows, columns and channels"
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The size of its images.
        found: [usize; 2],
        /// The size that the network reads.
        expected: [usize; 3],
    },
    /// A label lies beyond the classes of the network, or there are no images.
    #[error("read {path}")]
    Images {
        /// The file of the labels.
        path: PathBuf,
        /// The error.
        #[source]
        source: ImagesError,
    },
    /// The images do not fit the network.
    #[error(transparent)]
    Sizes(#[from] UnlikeSizes),
}

impl NetworkSource {
    /// Reads the network and its images, and runs it on all of them without a fault.
    ///
    /// # Errors
    /// When a file cannot be read or is something else, or when images, labels and network do not fit each other.
    pub fn open(&self) -> Result<NetworkTarget, SourceError> {
        let bundled = NETWORKS.iter().find(|bundled| bundled.name == self.network);
        let path = Path::new(&self.network);
        match (bundled, &self.images) {
            (Some(bundled), None) => Ok(bundled.open()?),
            (Some(bundled), Some(files)) => {
                let network = read_network(bundled.name, bundled.file).map_err(BundledError::from)?;
                files.target(network, bundled.file)
            }
            (None, _) if !path.is_file() => Err(unknown(&self.network).into()),
            (None, None) => Err(SourceError::NoImages { path: path.to_owned() }),
            (None, Some(files)) => {
                let bytes = read(path)?;
                let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("network");
                let network = read_network(name, &bytes);
                let network = network.map_err(|source| SourceError::Network { path: path.to_owned(), source })?;
                files.target(network, &bytes)
            }
        }
    }
}

impl ImageFiles {
    fn target(&self, network: crate::Network, file: &[u8]) -> Result<NetworkTarget, SourceError> {
        let idx = |path: &Path| {
            let path = path.to_owned();
            |source| SourceError::Idx { path, source }
        };
        let pixels = images(&read(&self.images)?).map_err(idx(&self.images))?;
        let labels = labels(&read(&self.labels)?).map_err(idx(&self.labels))?;
        let shape = network.tensors()[0].shape;
        let expected = [shape.height, shape.width, shape.channels];
        let size = |axis: usize| pixels.sizes.get(axis).copied().unwrap_or(0);
        let (count, rows, columns) = (size(0), size(1), size(2));
        if [rows, columns, 1] != expected {
            return Err(SourceError::Shape { path: self.images.clone(), found: [rows, columns], expected });
        }
        if count != labels.bytes.len() {
            return Err(SourceError::Labels {
                images: count,
                of_images: self.images.clone(),
                labels: labels.bytes.len(),
                of_labels: self.labels.clone(),
            });
        }
        let classes = network.logits().shape.channels;
        let images = Images::new(shape, pixels.bytes, labels.bytes, classes);
        let images = images.map_err(|source| SourceError::Images { path: self.labels.clone(), source })?;
        Ok(NetworkTarget::new(network, file, images)?)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    std::fs::read(path).map_err(|source| SourceError::Read { path: path.to_owned(), source })
}
