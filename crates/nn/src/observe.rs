//! The comparison of a faulty run with the fault-free one: the last tensor, and the class or the objects that it says.

use std::collections::BTreeMap;

use outcome::{Criteria, Metric, OutputDiff, Quality};

use crate::detection::{Differences, Grid, Object};

/// The output that is the last tensor, dequantised: the logits of a classifier, the cells of a detector.
pub const LOGITS: &str = "logits";

/// The output that is the class, one element that differs or does not.
pub const TOP_CLASS: &str = "top1";

/// The outputs of a detector: objects that are lost, found where none is, and found as another class.
pub const DETECTIONS: [&str; 3] = ["lost", "phantom", "reclassified"];

/// The task of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// It says the class of an image.
    Classification,
    /// It finds the objects of an image.
    Detection(Grid),
}

impl Task {
    /// Another class, or other objects, make a corrupted output bad. Other numbers that say the same are good.
    #[must_use]
    pub fn criteria(self) -> Criteria {
        let quality =
            |metric, tolerance| Quality { metric: Some(metric), tolerance: Some(tolerance), ..Quality::default() };
        let bad: &[&str] = match self {
            Self::Classification => &[TOP_CLASS],
            Self::Detection(_) => &DETECTIONS,
        };
        let bad = bad.iter().map(|&name| (name.to_owned(), quality(Metric::Differing, 0.0)));
        let good = std::iter::once((LOGITS.to_owned(), quality(Metric::DifferingShare, 1.0)));
        Criteria { quality: BTreeMap::from_iter(good.chain(bad)), ..Criteria::default() }
    }

    /// The words for images that the network gets right, as in "17 of 20 images …".
    #[must_use]
    pub fn when_right(self) -> &'static str {
        match self {
            Self::Classification => "are classified as labelled",
            Self::Detection(_) => "have all of their objects found, and no others",
        }
    }

    /// Whether values of the last tensor say this class, or these objects.
    pub(crate) fn is_right(self, values: &[f64], class: Option<u16>, objects: &[Object]) -> bool {
        match self {
            Self::Classification => Some(top_value(values)) == class.map(usize::from),
            Self::Detection(grid) => Differences::new(objects, &grid.objects(values)).is_none(),
        }
    }

    /// The comparison of the last tensors of two runs, and of what they say.
    #[must_use]
    pub fn outputs(self, golden: &[f64], found: &[f64]) -> Vec<OutputDiff> {
        let logits = compare(LOGITS, golden, found);
        if logits.differing == 0 {
            return std::iter::once(logits).chain(self.said(golden, golden)).collect();
        }
        std::iter::once(logits).chain(self.said(golden, found)).collect()
    }

    fn said(self, golden: &[f64], found: &[f64]) -> Vec<OutputDiff> {
        match self {
            Self::Classification => vec![count(TOP_CLASS, usize::from(top_value(golden) != top_value(found)), 1)],
            Self::Detection(grid) => {
                let expected = grid.objects(golden);
                let Differences { lost, phantom, reclassified } = Differences::new(&expected, &grid.objects(found));
                let [of_lost, of_phantom, of_reclassified] = DETECTIONS;
                vec![
                    count(of_lost, lost, expected.len()),
                    count(of_phantom, phantom, grid.positions()),
                    count(of_reclassified, reclassified, expected.len()),
                ]
            }
        }
    }
}

/// The class of logits of floating point: the first largest; NaN is never one.
#[must_use]
pub fn top_value<T: Copy + Into<f64>>(logits: &[T]) -> usize {
    let values = || logits.iter().map(|&logit| logit.into());
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    values().position(|logit: f64| logit == largest).unwrap_or(0)
}

/// Things that are other or are not: how far apart their numbers are means nothing.
pub(crate) fn count(name: &str, differing: usize, of: usize) -> OutputDiff {
    let found: Vec<f64> = (0..of).map(|at| if at < differing { 2.0 } else { 1.0 }).collect();
    compare(name, &vec![1.0; of], &found)
}

pub(crate) fn compare(name: &str, golden: &[f64], found: &[f64]) -> OutputDiff {
    let mut diff = OutputDiff::equal(name, golden.len() as u64);
    let (mut sum, mut squares, mut whole) = (0.0, 0.0, 0.0);
    for (golden, found) in golden.iter().zip(found) {
        whole += golden * golden;
        if golden.to_bits() != found.to_bits() {
            // A distance of NaN is not a finite error either.
            let error = (found - golden).abs();
            let error = if error.is_nan() { f64::INFINITY } else { error };
            diff.differing += 1;
            diff.nan += u64::from(found.is_nan());
            diff.inf += u64::from(found.is_infinite());
            diff.max_abs = diff.max_abs.max(error);
            diff.max_rel = diff.max_rel.max(if error == 0.0 { 0.0 } else { error / golden.abs() });
            sum += error;
            squares += error * error;
        }
    }
    diff.sum_abs = Some(sum);
    if squares > 0.0 {
        diff.rel_l2 = (squares / whole).sqrt();
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Quantisation;
    use outcome::{End, FirstUse, Landed, Observation, Outcome, Sdc, Tier, classify};

    fn outputs(golden: &[u8], found: &[u8]) -> Vec<OutputDiff> {
        let quantisation = Quantisation { scale: 0.5, zero: 3 };
        Task::Classification.outputs(&quantisation.values(golden), &quantisation.values(found))
    }

    fn outcome(golden: &[u8], found: &[u8]) -> Outcome {
        let observation = Observation {
            landed: Some(Landed { before: 0, after: 1, threads: 1 }),
            first_use: FirstUse::Read { after: 1 },
            end: End::Completed,
            outputs: outputs(golden, found),
            host_visible: false,
            strayed: 0,
            instructions: 0,
            tier: Tier::Full,
            host: None,
        };
        classify(&observation, &Task::Classification.criteria())
    }

    #[test]
    fn equal_logits_are_masked_and_another_class_is_bad() {
        assert!(matches!(outcome(&[1, 9, 4], &[1, 9, 4]), Outcome::Masked(_)));
        assert_eq!(outcome(&[1, 9, 4], &[200, 201, 4]), Outcome::Sdc(Sdc::Good));
        assert_eq!(outcome(&[1, 9, 4], &[1, 9, 10]), Outcome::Sdc(Sdc::Bad));
        // The first of equal logits is the class.
        assert_eq!(outcome(&[1, 9, 4], &[1, 9, 9]), Outcome::Sdc(Sdc::Good));
        assert_eq!(outcome(&[1, 9, 4], &[9, 9, 4]), Outcome::Sdc(Sdc::Bad));
    }

    #[test]
    fn errors_are_those_of_dequantised_logits() {
        let outputs = outputs(&[3, 5, 7], &[4, 5, 3]);
        let [logits, class] = &outputs[..] else { panic!("two outputs") };
        assert_eq!((logits.elements, logits.differing, logits.max_abs, logits.sum_abs), (3, 2, 2.0, Some(2.5)));
        // The first is 0 without the fault.
        assert_eq!((logits.max_rel, class.differing, class.elements), (f64::INFINITY, 1, 1));
        assert!((logits.rel_l2 - (4.25_f64 / 5.0).sqrt()).abs() < 1e-12);
    }
}
