//! Bounds of a mean of things that are not independent: of all pairs of some subjects.
//!
//! Subjects are drawn anew, and all pairs go with them (B. Efron & R. J. Tibshirani, *An Introduction to the Bootstrap*, 1993,
//! Chapters 8 and 13: percentiles of the means).

use crate::confidence::Confidence;
use crate::draws::Draws;
use crate::proportion::Interval;

/// Samples that are drawn.
const REPEATS: u64 = 2000;

/// The bounds of the mean of values, one for each subject; none of fewer than two.
#[must_use]
pub fn bootstrap(values: &[f64], confidence: Confidence, seed: u64) -> Option<Interval> {
    bootstrap_pairs(values.len(), |one, other| (one == other).then(|| values[one]), true, confidence, seed)
}

/// The bounds of the mean of a value of pairs of subjects, where a subject makes no pair with itself; pairs without a value are
/// left out. None of fewer than two subjects, or without a value.
#[must_use]
pub fn bootstrap_of_pairs(
    subjects: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
    confidence: Confidence,
    seed: u64,
) -> Option<Interval> {
    bootstrap_pairs(subjects, |one, other| if one < other { value(one, other) } else { None }, false, confidence, seed)
}

/// The bounds of a share: the sum of the first numbers of subjects by the sum of their second ones. None of fewer than two
/// subjects, or if all second ones are zero.
#[must_use]
pub fn bootstrap_of_ratio(subjects: &[(f64, f64)], confidence: Confidence, seed: u64) -> Option<Interval> {
    let count = Some(subjects.len() as u64).filter(|&count| count >= 2)?;
    let ratio = |repeat: u64| {
        let mut draws = Draws::new(seed, repeat);
        let drawn = (0..count).filter_map(|_| subjects.get(draws.below(count)? as usize));
        let (part, whole) = drawn.fold((0.0, 0.0), |(part, whole), it| (part + it.0, whole + it.1));
        (whole > 0.0).then(|| part / whole)
    };
    percentiles((0..REPEATS).filter_map(ratio).collect(), confidence)
}

/// The bounds that leave the same share of the means out on both sides.
fn percentiles(mut means: Vec<f64>, confidence: Confidence) -> Option<Interval> {
    means.sort_by(f64::total_cmp);
    let last = means.len().checked_sub(1)?;
    let at = |share: f64| means[((last as f64 * share).round() as usize).min(last)];
    let tail = confidence.alpha() / 2.0;
    Some(Interval { low: at(tail), high: at(1.0 - tail) })
}

fn bootstrap_pairs(
    subjects: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
    alone: bool,
    confidence: Confidence,
    seed: u64,
) -> Option<Interval> {
    if subjects < 2 {
        return None;
    }
    let table: Vec<Option<f64>> = (0..subjects * subjects).map(|at| value(at / subjects, at % subjects)).collect();
    let means = (0..REPEATS).filter_map(|repeat| mean(&table, subjects, alone, Draws::new(seed, repeat)));
    percentiles(means.collect(), confidence)
}

/// The mean of one sample of subjects.
fn mean(table: &[Option<f64>], subjects: usize, alone: bool, mut draws: Draws) -> Option<f64> {
    let mut times = vec![0u32; subjects];
    for _ in 0..subjects {
        times[draws.below(subjects as u64)? as usize] += 1;
    }
    let (mut sum, mut weight) = (0.0, 0.0);
    for (at, value) in table.iter().enumerate() {
        let (one, other) = (f64::from(times[at / subjects]), f64::from(times[at % subjects]));
        if let Some(value) = value {
            let pairs = if alone { one } else { one * other };
            sum += value * pairs;
            weight += pairs;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_a_mean_hold_it_about_as_often_as_they_say() {
        let held = (0..300).filter(|&repeat| {
            let mut draws = Draws::new(5, repeat);
            let values: Vec<f64> = (0..40).map(|_| draws.unit()).collect();
            let bounds = bootstrap(&values, Confidence::PERCENT_95, repeat).unwrap();
            bounds.low <= 0.5 && 0.5 <= bounds.high
        });
        let share = held.count() as f64 / 300.0;
        assert!((0.89..0.99).contains(&share), "{share}");
    }

    #[test]
    fn a_share_is_as_certain_as_its_subjects_are_many() {
        let mut draws = Draws::new(8, 0);
        let subjects: Vec<(f64, f64)> = (0..60).map(|_| (f64::from(u8::from(draws.unit() < 0.5)), 1.0)).collect();
        let plain: Vec<f64> = subjects.iter().map(|it| it.0).collect();
        let of = |it: &[(f64, f64)]| bootstrap_of_ratio(it, Confidence::PERCENT_95, 1);
        // With equal weights it is the mean; weights are relative.
        let (ratio, mean) = (of(&subjects).unwrap(), bootstrap(&plain, Confidence::PERCENT_95, 2).unwrap());
        assert!((ratio.low - mean.low).abs() < 0.05 && (ratio.high - mean.high).abs() < 0.05, "{ratio:?} {mean:?}");
        let heavy: Vec<(f64, f64)> = subjects.iter().map(|it| (it.0 * 9.0, it.1 * 9.0)).collect();
        assert_eq!(of(&heavy), Some(ratio));
        assert_eq!((of(&subjects[..1]), of(&[(0.0, 0.0); 3])), (None, None));
    }

    #[test]
    fn pairs_of_one_subject_go_together() {
        // The value of a pair is the mean of its subjects: as certain as the mean of the subjects, not as that of 780 values.
        let mut draws = Draws::new(9, 0);
        let subjects: Vec<f64> = (0..40).map(|_| draws.unit()).collect();
        let pair = |one: usize, other: usize| Some(f64::midpoint(subjects[one], subjects[other]));
        let pairs = bootstrap_of_pairs(40, pair, Confidence::PERCENT_95, 1).unwrap();
        let alone = bootstrap(&subjects, Confidence::PERCENT_95, 1).unwrap();
        let width = |it: Interval| it.high - it.low;
        assert!((width(pairs) / width(alone) - 1.0).abs() < 0.15, "{pairs:?} {alone:?}");
        assert_eq!(bootstrap(&[1.0], Confidence::PERCENT_95, 1), None);
        assert_eq!(bootstrap_of_pairs(5, |_, _| None, Confidence::PERCENT_95, 1), None);
    }
}
