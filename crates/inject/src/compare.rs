//! How an output differs from the golden one, element by element.

use capsule::{ElementType, Output};
use outcome::OutputDiff;

/// An output with what is known of its golden bytes.
#[derive(Debug)]
pub(crate) struct Reference {
    output: Output,
    element: ElementType,
    elements: u64,
    /// The Euclidean norm of the finite elements.
    norm: f64,
    /// The least and the largest value that an element may have, if that is declared.
    range: Option<[f64; 2]>,
}

impl Reference {
    /// An output whose golden bytes are these.
    pub(crate) fn new(output: Output, golden: &[u8]) -> Self {
        let element = output.element.unwrap_or(ElementType::U8);
        let size = element.bytes() as usize;
        let finite = golden.chunks(size).map(|bytes| value(element, bytes)).filter(|value| value.is_finite());
        let norm = finite.fold(0.0, |norm, value| norm + value * value).sqrt();
        Self { output, element, elements: (golden.len() / size.max(1)) as u64, norm, range: None }
    }

    /// The same with a range that elements may not leave.
    pub(crate) fn within(self, range: Option<[f64; 2]>) -> Self {
        Self { range, ..self }
    }

    /// How large its elements are: the root of the mean of the squares of the finite ones.
    pub(crate) fn scale(&self) -> f64 {
        self.norm / (self.elements.max(1) as f64).sqrt()
    }

    /// What an equal output gives.
    pub(crate) fn unchanged(&self) -> OutputDiff {
        self.difference(std::iter::empty())
    }

    /// Compares all bytes with the golden ones.
    pub(crate) fn compare(&self, golden: &[u8], found: &[u8]) -> OutputDiff {
        if golden == found {
            return self.unchanged();
        }
        let size = self.element.bytes() as usize;
        let pairs = golden.chunks(size).zip(found.chunks(size));
        self.difference(pairs.filter(|(golden, found)| golden != found))
    }

    /// Compares where bytes differ: `runs` are ascending offsets with the bytes found there.
    pub(crate) fn compare_runs(&self, golden: &[u8], runs: &[(usize, &[u8])]) -> OutputDiff {
        let size = self.element.bytes() as usize;
        let mut changed: Vec<(usize, Vec<u8>)> = Vec::new();
        for &(offset, bytes) in runs {
            for (at, &byte) in (offset..).zip(bytes) {
                let start = at - at % size;
                if changed.last().is_none_or(|(last, _)| *last != start) {
                    changed.push((start, golden[start..golden.len().min(start + size)].to_vec()));
                }
                if let Some((_, element)) = changed.last_mut() {
                    element[at - start] = byte;
                }
            }
        }
        self.difference(changed.iter().map(|(start, found)| (&golden[*start..*start + found.len()], &found[..])))
    }

    /// The difference, from the golden and the found bytes of every element that differs, in order.
    fn difference<'a>(&self, changed: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> OutputDiff {
        let mut diff = OutputDiff::equal(&self.output.name, self.elements);
        let error = changed.fold(0.0, |error, (golden, found)| error + self.add(&mut diff, golden, found));
        diff.rel_l2 = relative(error.sqrt(), self.norm);
        diff
    }

    /// Adds an element that differs; the square of its error.
    fn add(&self, diff: &mut OutputDiff, golden: &[u8], found: &[u8]) -> f64 {
        let (expected, actual) = (value(self.element, golden), value(self.element, found));
        diff.differing += 1;
        diff.nan += u64::from(actual.is_nan() && !expected.is_nan());
        diff.inf += u64::from(actual.is_infinite() && !expected.is_infinite());
        if let Some([low, high]) = self.range {
            // What is no number is counted as that.
            let outside = |value: f64| value < low || value > high;
            diff.out_of_range += u64::from(outside(actual) && !outside(expected));
        }
        let distance = (actual - expected).abs();
        // A distance that is no number is no finite error either.
        let distance = if distance.is_nan() { f64::INFINITY } else { distance };
        diff.max_abs = diff.max_abs.max(distance);
        diff.sum_abs = diff.sum_abs.map(|sum| sum + distance);
        diff.max_rel = diff.max_rel.max(relative(distance, expected.abs()));
        distance * distance
    }

    /// Bytes of one element.
    pub(crate) fn size(&self) -> usize {
        self.element.bytes() as usize
    }

    /// Makes a difference that of whole elements only, given by their offsets, ascending, and the bytes found there.
    pub(crate) fn compare_into(&self, diff: &mut OutputDiff, golden: &[u8], found: &[(usize, [u8; 8], usize)]) {
        (diff.differing, diff.nan, diff.inf, diff.out_of_range) = (0, 0, 0, 0);
        (diff.max_abs, diff.max_rel, diff.sum_abs) = (0.0, 0.0, Some(0.0));
        let mut error = 0.0;
        for (offset, bytes, count) in found {
            let golden = golden[*offset..*offset + count].chunks_exact(self.size());
            for (golden, found) in golden.zip(bytes[..*count].chunks_exact(self.size())) {
                if golden != found {
                    error += self.add(diff, golden, found);
                }
            }
        }
        diff.rel_l2 = relative(error.sqrt(), self.norm);
    }
}

/// The name of the output that is the text of kernels.
pub const PRINTED: &str = "printf";

/// How the text that kernels print differs: a text has no numbers, so that an error of it has no size.
pub(crate) fn of_text(elements: u64, differing: u64) -> OutputDiff {
    let error = if differing > 0 { f64::INFINITY } else { 0.0 };
    OutputDiff {
        differing,
        max_abs: error,
        sum_abs: Some(error),
        max_rel: error,
        rel_l2: error,
        ..OutputDiff::equal(PRINTED, elements)
    }
}

/// In how many bytes texts differ; what one has beyond the other counts.
pub(crate) fn differing_bytes(one: &[u8], other: &[u8]) -> u64 {
    let differing = one.iter().zip(other).filter(|(one, other)| one != other).count();
    (differing + one.len().abs_diff(other.len())) as u64
}

/// `error / size`; no error is none whatever the size, and an error of nothing is infinite.
fn relative(error: f64, size: f64) -> f64 {
    if error == 0.0 {
        0.0
    } else if size == 0.0 || !size.is_finite() {
        f64::INFINITY
    } else {
        error / size
    }
}

/// The number that an element's little-endian bytes are.
pub(crate) fn value(element: ElementType, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match element {
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => bits as f64,
        ElementType::S8 => f64::from(bits as i8),
        ElementType::S16 => f64::from(bits as i16),
        ElementType::S32 => f64::from(bits as i32),
        ElementType::S64 => bits as i64 as f64,
        ElementType::F16 => half(bits as u16, 5),
        ElementType::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        ElementType::F32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::F64 => f64::from_bits(bits),
    }
}

/// A 16-bit float with this many exponent bits.
fn half(bits: u16, exponent_bits: u32) -> f64 {
    let fraction_bits = 15 - exponent_bits;
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> fraction_bits) & ((1 << exponent_bits) - 1));
    let fraction = f64::from(bits & ((1 << fraction_bits) - 1)) / f64::from(1u32 << fraction_bits);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let top = (1 << exponent_bits) - 1;
    match exponent {
        0 => sign * fraction * f64::powi(2.0, 1 - bias),
        e if e == top && fraction == 0.0 => sign * f64::INFINITY,
        e if e == top => f64::NAN,
        e => sign * (1.0 + fraction) * f64::powi(2.0, e - bias),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Draws;

    fn diff(element: ElementType, golden: &[u8], found: &[u8]) -> OutputDiff {
        diff_within(element, None, golden, found)
    }

    /// The difference, which must be the same in whatever form the found bytes come.
    fn diff_within(element: ElementType, range: Option<[f64; 2]>, golden: &[u8], found: &[u8]) -> OutputDiff {
        let output = Output { element: Some(element), name: "out".into(), ..Output::untyped(0) };
        let reference = Reference::new(output, golden).within(range);
        let all = reference.compare(golden, found);
        let differing: Vec<_> = (0..golden.len()).filter(|&at| golden[at] != found[at]).collect();
        let runs: Vec<_> = differing.iter().map(|&at| (at, &found[at..=at])).collect();
        assert_eq!(reference.compare_runs(golden, &runs), all);
        let mut by_word =
            OutputDiff { differing: 77, max_abs: 7.0, sum_abs: None, nan: 7, out_of_range: 7, ..reference.unchanged() };
        let word = |(at, bytes): (usize, &[u8])| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            (8 * at, word, bytes.len())
        };
        let words: Vec<_> = found.chunks(8).enumerate().map(word).collect();
        reference.compare_into(&mut by_word, golden, &words);
        assert_eq!(by_word, all);
        all
    }

    #[test]
    fn every_way_to_compare_finds_the_same_whatever_the_bytes() {
        for (case, &element) in (0u64..).zip(ElementType::ALL.iter().cycle().take(600)) {
            let draws = Draws::new(5, case);
            let bytes = 8 * (1 + draws.draw(0) as usize % 9);
            let golden: Vec<u8> = (0..bytes).map(|at| draws.draw(at as u64) as u8).collect();
            let spoilt = |at: usize| draws.draw(1000 + at as u64).is_multiple_of(1 + case % 7);
            let found: Vec<u8> =
                (0..bytes).map(|at| golden[at] ^ if spoilt(at) { draws.draw(at as u64) as u8 } else { 0 }).collect();
            let ends = [draws.draw(2000) as i8, draws.draw(2001) as i8].map(f64::from);
            let range = [None, Some([ends[0].min(ends[1]), ends[0].max(ends[1])]), Some([0.0, f64::INFINITY])];
            let diffs = range.map(|range| diff_within(element, range, &golden, &found));
            assert_eq!(diffs[0].out_of_range, 0);
            for (diff, [low, high]) in diffs.iter().zip(range).filter_map(|(diff, range)| Some((diff, range?))) {
                let values = |bytes: &[u8]| -> Vec<f64> {
                    bytes.chunks(element.bytes() as usize).map(|bytes| value(element, bytes)).collect()
                };
                let left = |(golden, found): &(f64, f64)| {
                    !(*golden < low || *golden > high) && (*found < low || *found > high)
                };
                let expected = values(&golden).into_iter().zip(values(&found)).filter(left).count();
                assert_eq!(diff.out_of_range, expected as u64, "{element} in {low}..{high}");
                assert_eq!(OutputDiff { out_of_range: 0, ..diff.clone() }, diffs[0]);
            }
        }
    }

    #[test]
    fn an_element_that_leaves_its_range_is_counted_and_one_that_was_outside_is_not() {
        let golden = floats(&[0.5, 2.0, 0.25, 1.0]);
        let found = floats(&[1.5, 3.0, 0.75, f32::NAN]);
        let diff = diff_within(ElementType::F32, Some([0.0, 1.0]), &golden, &found);
        assert_eq!((diff.differing, diff.out_of_range, diff.nan), (4, 1, 1));
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn equal_bytes_do_not_differ_even_if_they_are_nan() {
        let nan = floats(&[f32::NAN, 1.0]);
        let diff = diff(ElementType::F32, &nan, &nan);
        assert_eq!((diff.elements, diff.differing, diff.nan), (2, 0, 0));
    }

    #[test]
    fn errors_are_measured_in_the_elements_own_type() {
        let diff = diff(ElementType::F32, &floats(&[3.0, 4.0, 0.0]), &floats(&[3.0, 5.0, 0.5]));
        assert_eq!((diff.differing, diff.max_abs, diff.sum_abs), (2, 1.0, Some(1.5)));
        assert_eq!(diff.max_rel, f64::INFINITY);
        assert!((diff.rel_l2 - 1.25f64.sqrt() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn new_nans_and_infinities_are_counted() {
        let found = floats(&[f32::NAN, f32::INFINITY]);
        let diff = diff(ElementType::F32, &floats(&[1.0, 1.0]), &found);
        assert_eq!((diff.nan, diff.inf, diff.max_abs), (1, 1, f64::INFINITY));
    }

    #[test]
    fn signed_integers_keep_their_sign() {
        let diff = diff(ElementType::S16, &(-1i16).to_le_bytes(), &1i16.to_le_bytes());
        assert_eq!((diff.max_abs, diff.max_rel), (2.0, 2.0));
    }

    #[test]
    fn half_precision_is_read_as_ieee_says() {
        let of = |bits: u16| value(ElementType::F16, &bits.to_le_bytes());
        assert_eq!((of(0x3c00), of(0xc000), of(0x0001), of(0x7bff)), (1.0, -2.0, 2f64.powi(-24), 65504.0));
        assert!(of(0x7c01).is_nan() && of(0x7c00).is_infinite());
    }
}
