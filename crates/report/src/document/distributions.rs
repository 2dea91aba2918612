//! Deaths, latencies and magnitudes.

use std::collections::BTreeMap;

use campaign::summary::Rate;

use super::capped::DEATHS;
use super::{Capped, Curve, CurvePoint, DeathShare, Decade, Histogram, Latencies, MagnitudeShares, Named};
use crate::gather::{Death, Decades, EndCounts, Logarithmic, Magnitudes};
use crate::input::{ListedInstruction, Listing};
use crate::measure::{Mass, Measure};

/// Outputs that are listed.
const OUTPUTS: usize = 30;

pub(super) fn deaths(ends: &EndCounts, measure: Measure, due: Mass, listing: &Listing<'_>) -> Capped<DeathShare> {
    let part = |(death, count): (Death, u64)| {
        let Death { kind, kernel, pc, line } = death;
        DeathShare {
            text: pc.and_then(|pc| listing.at(&kernel, pc, line)).map(|found: &ListedInstruction| found.text.clone()),
            share: measure.share(Mass::of(count), due),
            kernel: Some(kernel).filter(|kernel| !kernel.is_empty()),
            kind,
            pc,
            line,
        }
    };
    Capped::first(ends.deaths().into_iter().map(part).collect(), DEATHS)
}

pub(super) fn latencies(ends: &EndCounts, measure: Measure, landed: Mass) -> Latencies {
    let to_use = ends.to_use.iter().map(|(class, counts)| curve(class.word(), counts, measure));
    let mut to_end: Vec<(&String, &Logarithmic)> = ends.to_end.iter().collect();
    to_end.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.total()));
    Latencies {
        overwritten: measure.share(Mass::of(ends.overwritten), landed),
        never_used: measure.share(Mass::of(ends.never), landed),
        to_use: to_use.collect(),
        to_end: to_end.into_iter().map(|(kind, counts)| curve(kind, counts, measure)).collect(),
    }
}

fn curve(name: &str, counts: &Logarithmic, measure: Measure) -> Curve {
    let (total, cumulative) = (counts.total(), counts.cumulative());
    let quantile = |share: f64| {
        let reached = cumulative.iter().find(|(_, count)| *count as f64 >= share * total as f64);
        reached.map_or(0, |(bound, _)| *bound)
    };
    let point =
        |&(at_most, count): &(u64, u64)| CurvePoint { at_most, share: measure.share(Mass::of(count), Mass::of(total)) };
    Curve {
        name: name.to_owned(),
        total,
        half: quantile(0.5),
        nine_tenths: quantile(0.9),
        ninety_nine: quantile(0.99),
        points: cumulative.iter().map(point).collect(),
    }
}

pub(super) fn magnitudes(magnitudes: &Magnitudes, measure: Measure) -> MagnitudeShares {
    let runs = Mass::of(magnitudes.runs);
    let share = |count: u64| measure.share(Mass::of(count), runs);
    let mut outputs: Vec<Named> =
        magnitudes.outputs.iter().map(|(name, &runs)| Named { name: name.clone(), share: share(runs) }).collect();
    outputs.sort_by_key(|output| std::cmp::Reverse(output.share.count));
    MagnitudeShares {
        runs: magnitudes.runs,
        max_relative: histogram(&magnitudes.max_relative, &share),
        l2: histogram(&magnitudes.l2, &share),
        elements: histogram(&magnitudes.elements, &share),
        share: histogram(&magnitudes.share, &share),
        new_nan: share(magnitudes.new_nan),
        new_infinite: share(magnitudes.new_infinite),
        outputs: Capped::first(outputs, OUTPUTS),
    }
}

fn histogram(decades: &Decades, share: &dyn Fn(u64) -> Rate) -> Histogram {
    let bins: &BTreeMap<i32, u64> = &decades.bins;
    let range = bins.keys().next().copied().unwrap_or(0)..=bins.keys().next_back().copied().unwrap_or(-1);
    let decade = |exponent| Decade { exponent, share: share(bins.get(&exponent).copied().unwrap_or(0)) };
    Histogram {
        decades: range.map(decade).collect(),
        zero: share(decades.zero),
        infinite: share(decades.infinite),
        nan: share(decades.nan),
    }
}
