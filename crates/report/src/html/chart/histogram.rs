//! Shares by decade, with what has no decade apart.

use campaign::summary::Rate;
use maud::{Markup, html};

use super::{Plane, at, end_of_axis, power_of_ten, told};
use crate::document::Histogram;

const STEP: f64 = 26.0;
const HEIGHT: f64 = 200.0;
/// Decades that are shown; the ones beyond are added up at the ends only in the document.
const MOST: usize = 40;

/// Bars over powers of ten, each with its interval; zero, infinity and NaN at the sides.
pub(in crate::html) fn histogram(histogram: &Histogram, axis: &str, label: &str) -> Markup {
    let mut bars: Vec<(String, &Rate)> = Vec::new();
    bars.extend(Some(("0".to_owned(), &histogram.zero)).filter(|(_, rate)| rate.count > 0));
    let zero = bars.len();
    let decades = &histogram.decades[..histogram.decades.len().min(MOST)];
    bars.extend(decades.iter().map(|decade| (power_of_ten(decade.exponent), &decade.share)));
    let apart = bars.len();
    bars.extend(
        [("∞", &histogram.infinite), ("NaN", &histogram.nan)]
            .map(|(name, rate)| (name.to_owned(), rate))
            .into_iter()
            .filter(|(_, rate)| rate.count > 0),
    );
    let max =
        end_of_axis(bars.iter().map(|(_, rate)| if rate.rate.is_some() { rate.high } else { 0.0 }).fold(0.0, f64::max));
    let gap = |index: usize| {
        f64::from(u8::from(zero > 0 && index >= zero)) * 12.0 + f64::from(u8::from(index >= apart)) * 12.0
    };
    let plane =
        Plane { left: 52.0, right: 52.0 + STEP * bars.len() as f64 + gap(bars.len()), top: 10.0, bottom: 150.0 };
    let width = (plane.right + 12.0).max(300.0);
    html! {
        svg viewBox=(format!("0 0 {} {HEIGHT}", at(width))) width=(at(width)) height=(HEIGHT) role="img" aria-label=(label) {
            (plane.shares(max))
            @for (index, (name, rate)) in bars.iter().enumerate() {
                @let x = plane.left + STEP * index as f64 + gap(index);
                @let y = plane.y(rate.rate.unwrap_or(0.0), max);
                rect.s x=(at(x + 3.0)) y=(at(y)) width=(at(STEP - 6.0)) height=(at(plane.bottom - y)) stroke="none" {
                    title { (name) (if index >= zero && index < apart { "…" } else { "" }) ": " (told(rate, "runs")) }
                }
                @if rate.high > rate.low && rate.count > 0 {
                    line.w.k7 x1=(at(x + STEP / 2.0)) x2=(at(x + STEP / 2.0)) y1=(at(plane.y(rate.low, max))) y2=(at(plane.y(rate.high, max))) stroke-dasharray="none" {}
                }
                // A decade's name stands where it begins.
                @let decade = index >= zero && index < apart;
                @if !decade || (index - zero).is_multiple_of(if apart - zero > 14 { 2 } else { 1 }) {
                    text x=(at(if decade { x } else { x + STEP / 2.0 })) y=(at(plane.bottom + 16.0)) text-anchor="middle" { (name) }
                }
            }
            text x=(at(plane.left)) y=(at(HEIGHT - 14.0)) { (axis) }
        }
    }
}
