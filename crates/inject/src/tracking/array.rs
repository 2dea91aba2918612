//! Arrays, and what differs of them.

use crate::compare::value;
use capsule::ElementType;
use std::collections::BTreeSet;

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
    /// Bytes from an element to the next, where they are a field of structures; what is between is not looked at.
    pub stride: Option<u64>,
    /// The launches after which it is looked at, if not after all.
    pub launches: Option<BTreeSet<u32>>,
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

    /// How many bytes there are from an element to the next.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.stride.unwrap_or(self.element_bytes()).max(self.element_bytes())
    }

    /// How many bytes it has, from its first to its last one; as many as there can be at most.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let all = self.elements().checked_sub(1).map(|others| others.saturating_mul(self.step()));
        all.map_or(0, |all| all.saturating_add(self.element_bytes()))
    }

    /// Whether it is looked at after a launch.
    #[must_use]
    pub fn is_seen_after(&self, launch: u32) -> bool {
        self.launches.as_ref().is_none_or(|launches| launches.contains(&launch))
    }

    /// The last launch, of so many, after which it is looked at.
    #[must_use]
    pub fn last_launch(&self, count: usize) -> u32 {
        let last = self.launches.as_ref().and_then(|launches| launches.last().copied());
        last.unwrap_or(count.saturating_sub(1) as u32)
    }

    /// The ranges of bytes that it has in memory: addresses and numbers of bytes.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let (count, bytes) = match self.stride {
            None => (1, self.bytes()),
            Some(_) => (self.elements(), self.element_bytes()),
        };
        (0..count).map(move |at| (self.address + at * self.step(), bytes))
    }

    /// The parts of some bytes at an offset that are bytes of elements.
    pub(crate) fn parts<'b>(&self, offset: u64, bytes: &'b [u8]) -> impl Iterator<Item = (u64, &'b [u8])> {
        let (step, size) = match self.stride {
            None => (u64::MAX, u64::MAX),
            Some(_) => (self.step(), self.element_bytes()),
        };
        let end = offset + bytes.len() as u64;
        let part = move |element: u64| {
            let start = element * step;
            let (from, to) = (offset.max(start), end.min(start.saturating_add(size)));
            (from < to).then(|| (from, &bytes[(from - offset) as usize..(to - offset) as usize]))
        };
        (offset / step..=end.saturating_sub(1) / step).filter_map(part)
    }

    /// The elements that bytes of it are.
    #[must_use]
    pub fn values(&self, bytes: &[u8]) -> Vec<f64> {
        let element = self.element.unwrap_or(ElementType::U8);
        let size = element.bytes() as usize;
        let elements = bytes.chunks(self.step() as usize).filter_map(|bytes| bytes.get(..size));
        elements.map(|bytes| value(element, bytes)).collect()
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
    /// After the first that leaves the array different, and after the last after which it is looked at.
    Ends,
}

impl Keep {
    /// Whether bytes of an array are kept after a launch, which may be the last for it; `changes` are those before.
    pub(crate) fn bytes(self, is_last: bool, array: usize, changes: &[Change]) -> bool {
        self == Self::Every || is_last || !changes.iter().any(|change| change.array == array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_structures_has_the_bytes_of_its_elements_alone() {
        let element = Some(ElementType::U16);
        let array = Array { name: "a".into(), address: 100, element, shape: vec![3], stride: Some(6), launches: None };
        assert_eq!((array.elements(), array.step(), array.bytes()), (3, 6, 14));
        assert_eq!(array.ranges().collect::<Vec<_>>(), [(100, 2), (106, 2), (112, 2)]);
        assert_eq!(array.values(&[1, 0, 9, 9, 9, 9, 2, 0, 9, 9, 9, 9, 3, 1]), [1.0, 2.0, 259.0]);
        let bytes: Vec<u8> = (0..14).collect();
        let parts: Vec<(u64, Vec<u8>)> = array.parts(0, &bytes).map(|(at, part)| (at, part.to_vec())).collect();
        assert_eq!(parts, [(0, vec![0, 1]), (6, vec![6, 7]), (12, vec![12, 13])]);
        assert_eq!(array.parts(7, &bytes[..2]).collect::<Vec<_>>(), [(7, &bytes[..1])]);
        assert_eq!(array.parts(2, &bytes[..4]).count(), 0);
        let whole = Array { stride: None, ..array };
        assert_eq!((whole.bytes(), whole.ranges().collect::<Vec<_>>()), (6, vec![(100, 6)]));
        assert_eq!(whole.parts(3, &bytes).collect::<Vec<_>>(), [(3, &bytes[..])]);
    }
}
