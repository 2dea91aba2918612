//! Shares by decade, with what has no decade apart.

use campaign::summary::Rate;
use maud::{Markup, html};

use super::{ENDS, at, axis_of_shares, power_of_ten, told};
use crate::document::Histogram;
use crate::plane::{Plane, end_of_axis};

/// The place of a bar.
const STEP: f64 = 26.0;
/// The most that all decades take: where there are more, each takes less.
const WIDEST: f64 = 40.0 * STEP;
/// Between decades and what has none.
const GAP: f64 = 12.0;
const HEIGHT: f64 = 200.0;

/// Bars over powers of ten, each with its interval; zero, infinity and NaN at the sides.
pub(in crate::html) fn histogram(histogram: &Histogram, axis: &str, label: &str) -> Markup {
    let mut bars: Vec<(String, &Rate)> = Vec::new();
    bars.extend(Some(("0".to_owned(), &histogram.zero)).filter(|(_, rate)| rate.count > 0));
    let zero = bars.len();
    bars.extend(histogram.decades.iter().map(|decade| (power_of_ten(decade.exponent), &decade.share)));
    let apart = bars.len();
    bars.extend(
        [("∞", &histogram.infinite), ("NaN", &histogram.nan)]
            .map(|(name, rate)| (name.to_owned(), rate))
            .into_iter()
            .filter(|(_, rate)| rate.count > 0),
    );
    let max = end_of_axis(
        bars.iter().map(|(_, rate)| if rate.rate.is_some() { rate.high } else { 0.0 }).fold(0.0, f64::max),
        &ENDS,
    );
    let step = STEP.min(WIDEST / (apart - zero).max(1) as f64);
    // Where a bar's place begins.
    let left = |index: usize| {
        let (before, decades, behind) =
            (index.min(zero), index.min(apart).saturating_sub(zero), index.saturating_sub(apart));
        let gaps = f64::from(u8::from(zero > 0 && index >= zero)) + f64::from(u8::from(index >= apart));
        52.0 + STEP * (before + behind) as f64 + step * decades as f64 + GAP * gaps
    };
    let plane = Plane { left: left(0), right: left(bars.len()), top: 10.0, bottom: 150.0 };
    // So many decades share a name, or the names would cover each other.
    let named = if apart - zero > 14 { (2.0 * STEP / step).ceil() as usize } else { 1 };
    let width = (plane.right + 12.0).max(300.0);
    html! {
        svg viewBox=(format!("0 0 {} {HEIGHT}", at(width))) width=(at(width)) height=(HEIGHT) role="img" aria-label=(label) {
            (axis_of_shares(&plane, max))
            @for (index, (name, rate)) in bars.iter().enumerate() {
                @let decade = index >= zero && index < apart;
                @let (x, place) = (left(index), if decade { step } else { STEP });
                @let beside = (place / 4.0).min(6.0);
                @let y = plane.y(rate.rate.unwrap_or(0.0), max);
                rect.s x=(at(x + beside / 2.0)) y=(at(y)) width=(at(place - beside)) height=(at(plane.bottom - y)) stroke="none" {
                    title { (name) (if decade { "…" } else { "" }) ": " (told(rate, "runs")) }
                }
                @if rate.high > rate.low && rate.count > 0 {
                    line.w.k7 x1=(at(x + place / 2.0)) x2=(at(x + place / 2.0)) y1=(at(plane.y(rate.low, max))) y2=(at(plane.y(rate.high, max))) stroke-dasharray="none" {}
                }
                // A decade's name stands where it begins.
                @if !decade || (index - zero).is_multiple_of(named) {
                    text x=(at(if decade { x } else { x + place / 2.0 })) y=(at(plane.bottom + 16.0)) text-anchor="middle" { (name) }
                }
            }
            text x=(at(plane.left)) y=(at(HEIGHT - 14.0)) { (axis) }
        }
    }
}
