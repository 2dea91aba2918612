//! Where a network and its images come from: of the program, or of files.

use std::path::{Path, PathBuf};

use campaign::{SelectionWords, Site, TargetError, TargetSystem};

use crate::bundled::{BundledError, NETWORKS, unknown};
use crate::file::{FileError, is_float, read_float, read_network, with_external_data};
use crate::float::{FloatTarget, FloatTargetError, ValueFormat};
use crate::hit::LayerOperand;
use crate::idx::{IdxError, images, shown};
use crate::images::{Images, ImagesError};
use crate::observe::Task;
use crate::operator::Shape;
use crate::target::{Accuracy, LayerSize, NetworkTarget, UnlikeSizes};

/// A network, and the images that it is run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkSource {
    /// The name of a bundled network, or an ONNX file.
    pub network: String,
    /// The images; those of a bundled network if there are none.
    pub images: Option<ImageFiles>,
    /// How values of floating point are stored; none of a bundled network means INT8, and none of a file means what it is.
    pub format: Option<ValueFormat>,
}

/// Files of images and of their labels, in the form IDX; the name of a bundled network stands for its images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFiles {
    /// The images.
    pub images: PathBuf,
    /// The labels; those of a bundled network come along with its images.
    pub labels: Option<PathBuf>,
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
    /// The images of a bundled network have labels of their own.
    #[error("run the network on the images of `{name}`: they bring their labels along; leave out --labels {labels}")]
    BundledLabels {
        /// The bundled network.
        name: &'static str,
        /// The labels that were named beside it.
        labels: PathBuf,
    },
    /// Images of a file have no labels.
    #[error("run the network on {images}: name their labels by --labels FILE")]
    NoLabels {
        /// The images.
        images: PathBuf,
    },
    /// Images have another size than what the network reads.
    #[error("run the network on {path}: images have {found:?} rows, columns and channels, and it reads {expected:?}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// The size of its images.
        found: [usize; 3],
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
    /// The network of floating point cannot be run on the images.
    #[error(transparent)]
    Float(#[from] FloatTargetError),
    /// Something is for networks of INT8 alone.
    #[error("use the network `{network}` in {format}: this is for networks of INT8; {instead}")]
    NotIntegers {
        /// The network.
        network: String,
        /// Its format.
        format: &'static str,
        /// The way to one in INT8.
        instead: &'static str,
    },
}

impl NetworkSource {
    /// How values of floating point are stored, that of a file where none is chosen; none means INT8.
    #[must_use]
    pub fn settled_format(&self) -> Option<ValueFormat> {
        let bundled = NETWORKS.iter().find(|bundled| bundled.name == self.network);
        let of_file = || match bundled {
            Some(bundled) => bundled.file.is_none(),
            None => std::fs::read(&self.network).is_ok_and(|bytes| is_float(&bytes)),
        };
        self.format.or_else(|| of_file().then(ValueFormat::default))
    }

    /// Reads the network and its images, and runs it on all of them without a fault.
    ///
    /// # Errors
    /// When a file cannot be read or is something else, or when images, labels and network do not fit each other.
    pub fn open(&self) -> Result<OpenedNetwork, SourceError> {
        let bundled = NETWORKS.iter().find(|bundled| bundled.name == self.network);
        let path = Path::new(&self.network);
        let bytes;
        let (name, file): (&str, &[u8]) = match (bundled, &self.images) {
            (Some(bundled), None) => {
                return Ok(match self.settled_format() {
                    None => OpenedNetwork::Integers(bundled.open()?),
                    Some(format) => OpenedNetwork::Floats(bundled.open_float(format)?),
                });
            }
            (Some(bundled), _) => match (self.format, bundled.file) {
                (None, Some(file)) => (bundled.name, file),
                _ => (bundled.name, bundled.float_file),
            },
            (None, _) if !path.is_file() => {
                // A name with an ending or a folder is that of a file.
                if path.extension().is_some() || path.components().count() > 1 {
                    read(path)?;
                }
                return Err(unknown(&self.network).into());
            }
            (None, None) => return Err(SourceError::NoImages { path: path.to_owned() }),
            (None, Some(_)) => {
                bytes = self.file()?;
                (path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("network"), &bytes)
            }
        };
        let Some(files) = &self.images else { return Err(SourceError::NoImages { path: path.to_owned() }) };
        let of_file = |source| SourceError::Network { path: path.to_owned(), source };
        if self.format.is_some() || is_float(file) {
            let network = read_float(name, file, self.format.unwrap_or_default()).map_err(of_file)?;
            let [first, last] = [0, network.layers().len()].map(|tensor| network.tensors()[tensor].shape);
            let images = files.images(first, last)?;
            return Ok(OpenedNetwork::Floats(FloatTarget::new(network, file, images)?));
        }
        let network = read_network(name, file).map_err(of_file)?;
        let images = files.images(network.tensors()[0].shape, network.logits().shape)?;
        Ok(OpenedNetwork::Integers(NetworkTarget::new(network, file, images)?))
    }
}

/// A network with its images, whatever it computes with.
#[derive(Debug)]
pub enum OpenedNetwork {
    /// INT8.
    Integers(NetworkTarget),
    /// Floating point.
    Floats(FloatTarget),
}

impl OpenedNetwork {
    /// The name of the network.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Integers(target) => target.network().name(),
            Self::Floats(target) => target.network().topology().name(),
        }
    }

    /// Its layers with their sizes, in the order of their execution.
    #[must_use]
    pub fn layers(&self) -> Vec<LayerSize> {
        match self {
            Self::Integers(target) => target.layers(),
            Self::Floats(target) => target.layers(),
        }
    }

    /// Of how many images it says what they show. Faults are drawn for these only.
    #[must_use]
    pub fn accuracy(&self) -> Accuracy {
        match self {
            Self::Integers(target) => target.accuracy(),
            Self::Floats(target) => target.accuracy(),
        }
    }

    /// Its task.
    #[must_use]
    pub fn task(&self) -> Task {
        match self {
            Self::Integers(target) => target.images().task(),
            Self::Floats(target) => target.images().task(),
        }
    }

    /// The format of floating point in which values are stored; none of INT8.
    #[must_use]
    pub fn format(&self) -> Option<ValueFormat> {
        match self {
            Self::Integers(_) => None,
            Self::Floats(target) => Some(target.network().format()),
        }
    }

    /// How many bits a stored neuron has.
    #[must_use]
    pub fn bits(&self) -> u32 {
        match self {
            Self::Integers(_) => LayerOperand::Out.bits(),
            Self::Floats(target) => target.network().format().bits(),
        }
    }

    /// The neurons that `selection` draws from in each image, and how many images there are.
    ///
    /// # Errors
    /// When the selection names what the network does not have.
    pub fn population(&self, selection: &SelectionWords) -> Result<(u64, u64), TargetError> {
        match self {
            Self::Integers(target) => target.population(selection),
            Self::Floats(target) => target.population(selection),
        }
    }

    /// The site of a fault, from its text id.
    ///
    /// # Errors
    /// When the id cannot be read, or the network has no such place.
    pub fn site(&self, id: &str) -> Result<Site, TargetError> {
        match self {
            Self::Integers(target) => target.site(id),
            Self::Floats(target) => target.site(id),
        }
    }

    /// The parts of the target system that it is.
    #[must_use]
    pub fn target(&self) -> TargetSystem<'_> {
        match self {
            Self::Integers(target) => TargetSystem::from(target),
            Self::Floats(target) => TargetSystem::from(target),
        }
    }

    /// The network of INT8.
    ///
    /// # Errors
    /// When it computes in floating point.
    pub fn integers(self) -> Result<NetworkTarget, SourceError> {
        match self {
            Self::Integers(target) => Ok(target),
            Self::Floats(target) => {
                let network = target.network().topology().name().to_owned();
                let has_integers = NETWORKS.iter().any(|bundled| bundled.name == network && bundled.file.is_some());
                let instead = if has_integers { "leave --format out" } else { "it has no form in INT8: quantise it" };
                Err(SourceError::NotIntegers { network, format: target.network().format().word(), instead })
            }
        }
    }
}

impl NetworkSource {
    /// The bytes of its ONNX file, in INT8 of a bundled one; with constants that lie in files beside it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file(&self) -> Result<Vec<u8>, SourceError> {
        match NETWORKS.iter().find(|bundled| bundled.name == self.network) {
            Some(bundled) => Ok(bundled.integers()?.to_vec()),
            None => {
                let path = Path::new(&self.network);
                let folder = path.parent().unwrap_or(Path::new(""));
                let of_file = |source| SourceError::Network { path: path.to_owned(), source };
                with_external_data(read(path)?, folder).map_err(of_file)
            }
        }
    }
}

impl ImageFiles {
    /// The images of this size, with what the last layer of the network is held against.
    fn images(&self, shape: Shape, output: Shape) -> Result<Images, SourceError> {
        if let Some(bundled) = NETWORKS.iter().find(|it| self.images == Path::new(it.name) && !self.images.is_file()) {
            return match &self.labels {
                Some(labels) => Err(SourceError::BundledLabels { name: bundled.name, labels: labels.clone() }),
                None => Ok(bundled.images(shape, output)?),
            };
        }
        let no_labels = || SourceError::NoLabels { images: self.images.clone() };
        let labels = self.labels.as_ref().ok_or_else(no_labels)?;
        let idx = |path: &Path| {
            let path = path.to_owned();
            |source| SourceError::Idx { path, source }
        };
        let pixels = images(&read(&self.images)?).map_err(idx(&self.images))?;
        let shown = shown(&read(labels)?).map_err(idx(labels))?;
        let expected = [shape.height, shape.width, shape.channels];
        let size = |axis: usize| pixels.sizes.get(axis).copied().unwrap_or(0);
        let (count, found) = (size(0), [1, 2, 3].map(size));
        if found != expected {
            return Err(SourceError::Shape { path: self.images.clone(), found, expected });
        }
        if count != shown.count() {
            return Err(SourceError::Labels {
                images: count,
                of_images: self.images.clone(),
                labels: shown.count(),
                of_labels: labels.clone(),
            });
        }
        let images = Images::new(shape, pixels.bytes, shown, output);
        images.map_err(|source| SourceError::Images { path: labels.clone(), source })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    std::fs::read(path).map_err(|source| SourceError::Read { path: path.to_owned(), source })
}
