//! What is seen of a faulty run: its logits and its class beside those of the fault-free one.

use std::collections::BTreeMap;

use outcome::{Criteria, Metric, OutputDiff, Quality};

use crate::arithmetic::Quantisation;
use crate::forward::top_class;

/// The output that is the logits, dequantised.
pub const LOGITS: &str = "logits";

/// The output that is the class, one element that differs or does not.
pub const TOP_CLASS: &str = "top1";

/// What makes a corrupted output bad: another class. Other logits of the same class are good.
#[must_use]
pub fn criteria() -> Criteria {
    let quality =
        |metric, tolerance| Quality { metric: Some(metric), tolerance: Some(tolerance), ..Quality::default() };
    let quality = [
        (LOGITS.to_owned(), quality(Metric::DifferingShare, 1.0)),
        (TOP_CLASS.to_owned(), quality(Metric::Differing, 0.0)),
    ];
    Criteria { quality: BTreeMap::from(quality), ..Criteria::default() }
}

/// The comparison of logits, and of the classes that they come to.
#[must_use]
pub fn outputs(golden: &[u8], found: &[u8], quantisation: Quantisation) -> Vec<OutputDiff> {
    let values = |bytes: &[u8]| -> Vec<f64> { bytes.iter().map(|&byte| f64::from(quantisation.value(byte))).collect() };
    compared(&values(golden), &values(found), top_class(golden) != top_class(found))
}

/// The same of logits of floating point.
#[must_use]
pub fn value_outputs(golden: &[f32], found: &[f32]) -> Vec<OutputDiff> {
    let values = |logits: &[f32]| -> Vec<f64> { logits.iter().map(|&logit| f64::from(logit)).collect() };
    compared(&values(golden), &values(found), top_value(golden) != top_value(found))
}

/// The class of logits of floating point: the first largest; NaN is never one.
#[must_use]
pub fn top_value(logits: &[f32]) -> usize {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter().position(|&logit| logit == largest).unwrap_or(0)
}

fn compared(golden: &[f64], found: &[f64], is_other_class: bool) -> Vec<OutputDiff> {
    // A class is another or it is not: how far apart their numbers are means nothing.
    let other = f64::from(u8::from(is_other_class));
    vec![compare(LOGITS, golden, found), compare(TOP_CLASS, &[1.0], &[1.0 + other])]
}

fn compare(name: &str, golden: &[f64], found: &[f64]) -> OutputDiff {
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
    use outcome::{End, FirstUse, Landed, Observation, Outcome, Sdc, Tier, classify};

    fn outcome(golden: &[u8], found: &[u8]) -> Outcome {
        let observation = Observation {
            landed: Some(Landed { before: 0, after: 1, threads: 1 }),
            first_use: FirstUse::Read { after: 1 },
            end: End::Completed,
            outputs: outputs(golden, found, Quantisation { scale: 0.5, zero: 3 }),
            host_visible: false,
            strayed: 0,
            instructions: 0,
            tier: Tier::Full,
            host: None,
        };
        classify(&observation, &criteria())
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
        let outputs = outputs(&[3, 5, 7], &[4, 5, 3], Quantisation { scale: 0.5, zero: 3 });
        let [logits, class] = &outputs[..] else { panic!("two outputs") };
        assert_eq!((logits.elements, logits.differing, logits.max_abs, logits.sum_abs), (3, 2, 2.0, Some(2.5)));
        // The first is 0 without the fault.
        assert_eq!((logits.max_rel, class.differing, class.elements), (f64::INFINITY, 1, 1));
        assert!((logits.rel_l2 - (4.25_f64 / 5.0).sqrt()).abs() < 1e-12);
    }
}
