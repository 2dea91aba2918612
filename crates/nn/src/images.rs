//! Images with what they show, as bytes that a network reads.

use crate::detection::{Grid, Object};
use crate::network::Shape;
use crate::observe::Task;

/// Images of one size with what each of them shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Images {
    shape: Shape,
    pixels: Vec<u8>,
    shown: Shown,
    task: Task,
}

/// The truth of images.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A class each.
    Classes(Vec<u16>),
    /// Objects, any number.
    Objects(Vec<Vec<Object>>),
}

/// Why bytes are no images.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImagesError {
    /// Pixels and labels are not as many as each other, or none.
    #[error(
        "read images: {labels} labels need {expected} bytes of pixels ({height} x {width} x {channels} each), found {pixels}",
        height = shape.height, width = shape.width, channels = shape.channels
    )]
    Count {
        /// The size of an image.
        shape: Shape,
        /// The labels.
        labels: usize,
        /// Bytes of pixels that would belong to them.
        expected: usize,
        /// Bytes of pixels that there are.
        pixels: usize,
    },
    /// A label beyond the classes.
    #[error("read the label of image {image}: class {label} of {classes}, counted from 0")]
    Label {
        /// The image.
        image: usize,
        /// Its label.
        label: u16,
        /// How many classes the network tells apart.
        classes: usize,
    },
    /// The network makes something else than what is known of the images.
    #[error("hold what the network makes against labels: the last layer makes {} × {} × {} numbers, expected {expected}", found.height, found.width, found.channels)]
    Output {
        /// The output that labels of this kind need.
        expected: &'static str,
        /// The size of what it makes.
        found: Shape,
    },
    /// An object beyond the image.
    #[error("read the objects of image {image}: a box of rows {top} to {bottom} and columns {left} to {right} is not within {height} x {width} pixels", top = bounds[0], bottom = bounds[2], left = bounds[1], right = bounds[3], height = shape.height, width = shape.width)]
    Bounds {
        /// The image.
        image: usize,
        /// The box: its first row and column, and those that follow its last.
        bounds: [f64; 4],
        /// The size of an image.
        shape: Shape,
    },
    /// No images at all.
    #[error("read images: there are none")]
    None,
}

impl Images {
    /// Pixels, one image after the other and position-major, what each image shows, and the size of what the network makes of it.
    ///
    /// # Errors
    /// When there are none, when their numbers differ, when a label is beyond the classes, when an object lies beyond its image, or when
    /// the network makes something else.
    pub fn new(shape: Shape, pixels: Vec<u8>, shown: Shown, output: Shape) -> Result<Self, ImagesError> {
        let (task, classes) = match &shown {
            Shown::Classes(_) if output.positions() != 1 || output.channels < 2 => {
                return Err(ImagesError::Output { expected: "logits: at least two, and one position", found: output });
            }
            Shown::Classes(_) => (Task::Classification, output.channels),
            Shown::Objects(_) => {
                let expected = "a cell for each part of the image, with five channels and those of the classes";
                let grid = Grid::new(shape, output).ok_or(ImagesError::Output { expected, found: output })?;
                (Task::Detection(grid), grid.classes())
            }
        };
        let labels = shown.count();
        let expected = shape.elements() * labels;
        if pixels.len() != expected {
            return Err(ImagesError::Count { shape, labels, expected, pixels: pixels.len() });
        }
        if labels == 0 || pixels.is_empty() {
            return Err(ImagesError::None);
        }
        for image in 0..labels {
            if let Some(label) = shown.classes_of(image).find(|&label| usize::from(label) >= classes) {
                return Err(ImagesError::Label { image, label, classes });
            }
            let size = [shape.height, shape.width].map(|size| size as f64);
            let within = |it: [f64; 4]| {
                (0..2).all(|axis| 0.0 <= it[axis] && it[axis] < it[axis + 2] && it[axis + 2] <= size[axis])
            };
            if let Some(&Object { bounds, .. }) = shown.objects_of(image).iter().find(|it| !within(it.bounds)) {
                return Err(ImagesError::Bounds { image, bounds, shape });
            }
        }
        Ok(Self { shape, pixels, shown, task })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shown.count()
    }

    /// The task of the network.
    #[must_use]
    pub fn task(&self) -> Task {
        self.task
    }

    /// Whether the values of the last tensor say what an image shows.
    #[must_use]
    pub fn is_right(&self, image: usize, values: &[f64]) -> bool {
        self.task.is_right(values, self.shown.classes_of(image).next(), self.shown.objects_of(image))
    }

    /// The pixels of an image; none beyond the last.
    #[must_use]
    pub fn pixels(&self, image: usize) -> &[u8] {
        let size = self.shape.elements();
        self.pixels.get(image * size..(image + 1) * size).unwrap_or(&[])
    }

    /// The class of each image; none if they show objects.
    #[must_use]
    pub fn labels(&self) -> &[u16] {
        match &self.shown {
            Shown::Classes(labels) => labels,
            Shown::Objects(_) => &[],
        }
    }

    /// The objects of an image; none if images have a class each.
    #[must_use]
    pub fn objects(&self, image: usize) -> &[Object] {
        self.shown.objects_of(image)
    }

    /// All pixels, one image after the other.
    #[must_use]
    pub fn all_pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// A digest of them with their labels, and of the parts of a network that is run on them.
    pub(crate) fn digest(&self, network: &[&[u8]]) -> String {
        let mut hasher = blake3::Hasher::new();
        let labels = self.shown.bytes();
        for part in network.iter().copied().chain([&self.pixels[..], &labels]) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl Shown {
    /// Of how many images it is known.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Classes(labels) => labels.len(),
            Self::Objects(objects) => objects.len(),
        }
    }

    fn classes_of(&self, image: usize) -> impl Iterator<Item = u16> {
        let label = match self {
            Self::Classes(labels) => labels.get(image).copied(),
            Self::Objects(_) => None,
        };
        label.into_iter().chain(self.objects_of(image).iter().map(|object| object.class))
    }

    fn objects_of(&self, image: usize) -> &[Object] {
        match self {
            Self::Classes(_) => &[],
            Self::Objects(objects) => objects.get(image).map_or(&[], Vec::as_slice),
        }
    }

    /// Bytes that stand for them in a digest. Labels that are bytes are hashed as such.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Classes(labels) => {
                let bytes: Option<Vec<u8>> = labels.iter().map(|&label| u8::try_from(label).ok()).collect();
                bytes.unwrap_or_else(|| labels.iter().flat_map(|label| label.to_le_bytes()).collect())
            }
            Self::Objects(objects) => {
                let numbers = |it: &Object| [&[f64::from(it.class)][..], &it.bounds].concat();
                let numbers = objects
                    .iter()
                    .flat_map(|all| std::iter::once(all.len() as f64).chain(all.iter().flat_map(numbers)));
                numbers.flat_map(f64::to_le_bytes).collect()
            }
        }
    }
}
