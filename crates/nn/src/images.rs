//! Images with their labels, as bytes that a network reads.

use crate::network::Shape;

/// Images of one size with the class of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    shape: Shape,
    pixels: Vec<u8>,
    labels: Vec<u16>,
}

/// Why bytes are no images.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// No images at all.
    #[error("read images: there are none")]
    None,
}

impl Images {
    /// Pixels, one image after the other and position-major, and a label for each of them.
    ///
    /// # Errors
    /// When there are none, when their numbers differ, or when a label is no class.
    pub fn new(shape: Shape, pixels: Vec<u8>, labels: Vec<u16>, classes: usize) -> Result<Self, ImagesError> {
        let expected = shape.elements() * labels.len();
        if pixels.len() != expected {
            return Err(ImagesError::Count { shape, labels: labels.len(), expected, pixels: pixels.len() });
        }
        if labels.is_empty() || pixels.is_empty() {
            return Err(ImagesError::None);
        }
        match labels.iter().position(|&label| usize::from(label) >= classes) {
            Some(image) => Err(ImagesError::Label { image, label: labels[image], classes }),
            None => Ok(Self { shape, pixels, labels }),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The pixels of an image; none beyond the last.
    #[must_use]
    pub fn pixels(&self, image: usize) -> &[u8] {
        let size = self.shape.elements();
        self.pixels.get(image * size..(image + 1) * size).unwrap_or(&[])
    }

    /// The class of each image.
    #[must_use]
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    /// All pixels, one image after the other.
    #[must_use]
    pub fn all_pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// A digest of them with their labels, and of the parts of a network that is run on them.
    pub(crate) fn digest(&self, network: &[&[u8]]) -> String {
        let mut hasher = blake3::Hasher::new();
        // Labels that are bytes are hashed as such.
        let bytes: Option<Vec<u8>> = self.labels.iter().map(|&label| u8::try_from(label).ok()).collect();
        let labels = bytes.unwrap_or_else(|| self.labels.iter().flat_map(|label| label.to_le_bytes()).collect());
        for part in network.iter().copied().chain([&self.pixels[..], &labels]) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex().to_string()
    }
}
