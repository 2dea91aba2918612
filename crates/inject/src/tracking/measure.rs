//! How bad a change is, element by element.

use super::array::{Array, Change};
use crate::compare::value;
use capsule::ElementType;
use std::collections::BTreeSet;

/// How bad an array is corrupted.
#[derive(Clone, Debug, PartialEq)]
pub struct Corruption {
    /// Elements whose bytes differ.
    pub elements: u64,
    /// The largest absolute error; infinite where one is no finite number, NaN where the type of elements is not known.
    pub max_abs: f64,
    /// The sum of the absolute errors; as that.
    pub sum_abs: f64,
    /// Which elements.
    pub extent: Extent,
}

/// How far a corruption reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first and the last element that differ, linear.
    pub ends: (u64, u64),
    /// How many rows have some: places along all dimensions but the last.
    pub rows: u64,
    /// How many columns have some: places along the last dimension.
    pub columns: u64,
}

/// Measures a change; `golden` gives the golden run's bytes at an offset.
pub(super) fn corruption(array: &Array, change: &Change, golden: impl Fn(u64, u64) -> Vec<u8>) -> Corruption {
    let width = array.shape.last().copied().unwrap_or(1).max(1);
    // Elements come in order: rows one after the other.
    let (mut row, mut columns) = (None, BTreeSet::new());
    let mut it =
        Corruption { elements: 0, max_abs: 0.0, sum_abs: 0.0, extent: Extent { ends: (0, 0), rows: 0, columns: 0 } };
    each_element(array, change, golden, |at, expected, found| {
        let error = (found - expected).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        it.extent.ends = (if it.elements == 0 { at } else { it.extent.ends.0 }, at);
        it.elements += 1;
        it.max_abs = it.max_abs.max(error);
        it.sum_abs += error;
        if row.replace(at / width) != Some(at / width) {
            it.extent.rows += 1;
        }
        columns.insert(at % width);
    });
    it.extent.columns = columns.len() as u64;
    if array.element.is_none() {
        (it.max_abs, it.sum_abs) = (f64::NAN, f64::NAN);
    }
    it
}

/// Shows every element that differs, in order: its place, the golden run's value and the faulty one's.
fn each_element(
    array: &Array,
    change: &Change,
    golden: impl Fn(u64, u64) -> Vec<u8>,
    mut show: impl FnMut(u64, f64, f64),
) {
    let (step, size) = (array.step(), array.element_bytes() as usize);
    let element = array.element.unwrap_or(ElementType::U8);
    let mut at = 0;
    while at < change.runs.len() {
        // Elements that lie within runs that touch the same ones are taken together.
        let first = change.runs[at].0 / step;
        let mut last = first;
        let start = at;
        while let Some((offset, bytes)) = change.runs.get(at).filter(|(offset, _)| at == start || offset / step <= last)
        {
            last = (offset + bytes.len() as u64 - 1) / step;
            at += 1;
        }
        // Behind the last element there is nothing of the array.
        let expected = golden(first * step, ((last + 1) * step).min(array.bytes()) - first * step);
        let mut found = expected.clone();
        for (offset, bytes) in &change.runs[start..at] {
            let from = (offset - first * step) as usize;
            found[from..from + bytes.len()].copy_from_slice(bytes);
        }
        let pairs = expected.chunks(step as usize).zip(found.chunks(step as usize));
        for (place, (expected, found)) in (first..).zip(pairs) {
            let (expected, found) = (&expected[..size], &found[..size]);
            if expected != found {
                show(place, value(element, expected), value(element, found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_measured_once_whatever_bytes_of_them_differ() {
        let golden: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|it| it.to_le_bytes()).collect();
        let array = Array {
            name: "a".into(),
            address: 0,
            element: Some(ElementType::F32),
            shape: vec![2, 3],
            stride: None,
            launches: None,
        };
        let (two, nan) = (2.5f32.to_le_bytes(), f32::NAN.to_le_bytes());
        // 2.0 becomes 2.5 by its third byte; 3.0 becomes NaN by its last two; 5.0 by one byte, -5.0.
        let runs = vec![(6, vec![two[2]]), (10, vec![nan[2]]), (11, vec![nan[3]]), (19, vec![0xc0])];
        let change = Change { launch: 0, array: 0, runs };
        let read = |offset: u64, bytes: u64| golden[offset as usize..(offset + bytes) as usize].to_vec();
        let found = corruption(&array, &change, read);
        assert_eq!((found.elements, found.max_abs), (3, f64::INFINITY));
        assert_eq!(found.extent, Extent { ends: (1, 4), rows: 2, columns: 2 });
        let finite = Change { runs: vec![change.runs[0].clone(), change.runs[3].clone()], ..change };
        let found = corruption(&array, &finite, read);
        assert_eq!((found.elements, found.max_abs, found.sum_abs), (2, 10.0, 10.5));
        let bytes = corruption(&Array { element: None, shape: vec![24], ..array.clone() }, &finite, read);
        assert!(bytes.elements == 2 && bytes.max_abs.is_nan() && bytes.sum_abs.is_nan());
        // Every second one, as a field of structures of two.
        let field = Array { element: Some(ElementType::F32), shape: vec![3], stride: Some(8), ..array };
        let change = Change {
            launch: 0,
            array: 0,
            runs: vec![(19, vec![0xc0]), (10, vec![nan[2]])].into_iter().rev().collect(),
        };
        let found = corruption(&field, &change, read);
        assert_eq!((found.elements, found.extent.ends), (2, (1, 2)));
    }
}
