//! Arrays, and what differs of them.

use crate::compare::value;
use capsule::ElementType;

/// An array in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// What it is called.
    pub name: String,
    /// Where it begins.
    pub address: u64,
    /// What its elements are; where that is not known, they are bytes, and how far one is off is not known.
    pub element: Option<ElementType>,
    /// How many there are along each dimension, the last one contiguous.
    pub shape: Vec<u64>,
}

impl Array {
    /// How many elements it has.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// How many bytes an element has.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.element.map_or(1, ElementType::bytes)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.elements() * self.element_bytes()
    }

    /// The elements that bytes of it are.
    #[must_use]
    pub fn values(&self, bytes: &[u8]) -> Vec<f64> {
        let element = self.element.unwrap_or(ElementType::U8);
        bytes.chunks_exact(element.bytes() as usize).map(|bytes| value(element, bytes)).collect()
    }
}

/// What differs of an array after a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The launch that has ended.
    pub launch: u32,
    /// The array, by its place among those that are looked at.
    pub array: usize,
    /// Offsets in the array, ascending and apart, and the bytes that the faulty run holds there; all of them differ. None
    /// where it is only noted that some do.
    pub runs: Vec<(u64, Vec<u8>)>,
}

/// After which launches the bytes that differ are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// After every launch.
    Every,
    /// After the first that leaves the array different, and after the last of the program.
    Ends,
}

impl Keep {
    /// Whether bytes are kept after a launch, `number` of `count`; `changes` are those before.
    pub(crate) fn bytes(self, (number, count): (usize, usize), array: usize, changes: &[Change]) -> bool {
        self == Self::Every || number + 1 == count || !changes.iter().any(|change| change.array == array)
    }
}
