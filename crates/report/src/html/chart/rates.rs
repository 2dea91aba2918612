//! Rates along an axis (bits, time, launches), each with its interval.

use campaign::summary::{Outcomes, Rate};
use maud::{Markup, html};

use super::{at, axis_of_shares, told};
use crate::plane::Plane;

const HEIGHT: f64 = 230.0;

/// The rates at a place of the axis.
pub(in crate::html) struct Mark {
    /// What the axis says there; shown where there is room.
    pub(in crate::html) tick: String,
    /// What a title says.
    pub(in crate::html) name: String,
    pub(in crate::html) runs: u64,
    pub(in crate::html) outcomes: Outcomes<Rate>,
}

/// SDC as discs, DUE as triangles, each with its interval; how many runs there are as bars at the bottom.
pub(in crate::html) fn rates(marks: &[Mark], axis: &str, label: &str, what: &str) -> Markup {
    let step = (680.0 / marks.len().max(1) as f64).clamp(3.4, 24.0);
    let plane = Plane { left: 46.0, right: 46.0 + step * marks.len() as f64, top: 10.0, bottom: 180.0 };
    let width = (plane.right + 12.0).max(300.0);
    let most = marks.iter().map(|mark| mark.runs).max().unwrap_or(1).max(1);
    let middle = |index: usize| plane.left + step * (index as f64 + 0.5);
    let every = (34.0 / step).ceil().max(1.0) as usize;
    html! {
        svg viewBox=(format!("0 0 {} {HEIGHT}", at(width))) width=(at(width)) height=(HEIGHT) role="img" aria-label=(label) {
            (axis_of_shares(&plane, 1.0))
            @for (index, mark) in marks.iter().enumerate() {
                @let x = middle(index);
                @let height = 22.0 * mark.runs as f64 / most as f64;
                rect.bar x=(at(x - step * 0.4)) y=(at(plane.bottom - height)) width=(at(step * 0.8)) height=(at(height)) {
                    title { (mark.name) ": " (crate::number::count(mark.runs)) " " (what) }
                }
                (mark_of(&plane, mark, &mark.outcomes.due, x + step * 0.18, "d", what))
                (mark_of(&plane, mark, &mark.outcomes.sdc, x - step * 0.18, "s", what))
                @if index % every == 0 {
                    text x=(at(x)) y=(at(plane.bottom + 16.0)) text-anchor="middle" { (mark.tick) }
                }
            }
            text x=(at(plane.left)) y=(at(HEIGHT - 14.0)) { (axis) }
        }
    }
}

fn mark_of(plane: &Plane, mark: &Mark, rate: &Rate, x: f64, class: &str, what: &str) -> Markup {
    let Some(share) = rate.rate else { return Markup::default() };
    let (y, low, high) = (plane.y(share, 1.0), plane.y(rate.low, 1.0), plane.y(rate.high, 1.0));
    let name = if class == "s" { "SDC" } else { "DUE" };
    html! {
        g class=(class) {
            @if high < low { line.w x1=(at(x)) x2=(at(x)) y1=(at(low)) y2=(at(high)) {} }
            @if class == "s" { circle cx=(at(x)) cy=(at(y)) r="3" { title { (mark.name) ", SDC: " (told(rate, what)) } } }
            @else {
                path d=(format!("M{} {}l3.5 6.4h-7z", at(x), at(y - 3.7))) {
                    title { (mark.name) ", " (name) ": " (told(rate, what)) }
                }
            }
        }
    }
}
