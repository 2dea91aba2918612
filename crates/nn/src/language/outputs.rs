//! The comparison of a faulty generation with the golden one.

use std::collections::BTreeMap;

use outcome::{Criteria, Metric, OutputDiff, Quality};

use super::generate::Generation;
use crate::observe::{LOGITS, compare, count};

/// The output that is the chosen tokens, one element for each step.
pub const TOKENS: &str = "tokens";

/// The output whose differing elements are the steps from the fault's own, which is the first, to that of the first other token; none
/// if no token differs. Its elements are the steps from the fault to the end.
pub const DELAY: &str = "delay";

/// The output whose differing elements are the steps from the first other token to the last; its elements are as those of
/// [`DELAY`].
pub const SPAN: &str = "span";

/// Another token makes a corrupted output bad. Other logits that choose the same tokens are good.
pub(super) fn criteria() -> Criteria {
    let quality =
        |metric, tolerance| Quality { metric: Some(metric), tolerance: Some(tolerance), ..Quality::default() };
    let all = [
        (LOGITS, Metric::DifferingShare, 1.0),
        (TOKENS, Metric::Differing, 0.0),
        (DELAY, Metric::DifferingShare, 1.0),
        (SPAN, Metric::DifferingShare, 1.0),
    ];
    let quality = all.map(|(name, metric, tolerance)| (name.to_owned(), quality(metric, tolerance)));
    Criteria { quality: BTreeMap::from(quality), ..Criteria::default() }
}

/// The outputs of a generation whose fault was at `step`.
pub(super) fn outputs(golden: &Generation, found: &Generation, step: usize) -> Vec<OutputDiff> {
    let wide = |generation: &Generation| generation.logits.iter().map(|&logit| f64::from(logit)).collect::<Vec<_>>();
    let same = golden.logits.iter().zip(&found.logits).all(|(a, b)| a.to_bits() == b.to_bits());
    let logits = match same {
        true => OutputDiff::equal(LOGITS, golden.logits.len() as u64),
        false => compare(LOGITS, &wide(golden), &wide(found)),
    };
    let tokens = || golden.tokens.iter().zip(&found.tokens);
    let differing = tokens().filter(|(a, b)| a != b).count();
    let first = tokens().position(|(a, b)| a != b);
    let last = tokens().rposition(|(a, b)| a != b);
    let left = golden.tokens.len() - step;
    let delay = first.map_or(0, |first| (first + 1).saturating_sub(step));
    let span = first.zip(last).map_or(0, |(first, last)| last + 1 - first);
    let number = |name, differing, of| match differing {
        0 => OutputDiff::equal(name, of as u64),
        _ => count(name, differing, of),
    };
    vec![logits, number(TOKENS, differing, golden.tokens.len()), number(DELAY, delay, left), number(SPAN, span, left)]
}
